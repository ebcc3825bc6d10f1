"""Scores and thresholds against a plain oracle."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.kernel.types.evaluation import Assertion, Evaluation, Threshold, Usage, require_number

unit = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])
bound = st.none() | unit | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 3)
bounds = st.fixed_dictionaries({"lt": bound, "lte": bound, "gt": bound, "gte": bound})


def reference(score: float, lt: Any, lte: Any, gt: Any, gte: Any) -> bool | None:
    """The documented rule: every given bound must hold."""
    results = [
        *([score < lt] if lt is not None else []),
        *([score <= lte] if lte is not None else []),
        *([score > gt] if gt is not None else []),
        *([score >= gte] if gte is not None else []),
    ]
    return all(results) if results else None


@given(unit, bounds)
def test_a_threshold_needs_every_bound(score: float, given_bounds: dict[str, Any]) -> None:
    expected = reference(score, **given_bounds)
    assert Threshold(**given_bounds).holds(score) is expected
    assert Evaluation(score, Threshold(**given_bounds)).passed is expected


@given(unit)
def test_without_a_threshold_pass_or_fail_is_undefined(score: float) -> None:
    assert Evaluation(score).passed is None
    assert Evaluation(score, Threshold()).passed is None


@given(st.floats() | st.integers() | st.fractions() | st.booleans() | st.text() | st.none() | st.complex_numbers())
def test_a_score_is_a_finite_number_from_0_to_1(score: Any) -> None:
    number = not isinstance(score, bool | str | complex | None)
    if number and isfinite(score) and 0 <= score <= 1:
        assert Evaluation(score).score == float(score)
        assert type(Evaluation(score).score) is float
    else:
        with pytest.raises(ValueError if number else TypeError, match=r"Evaluation\.score"):
            Evaluation(score)


@given(st.sampled_from(["lt", "lte", "gt", "gte"]), st.booleans() | st.text() | st.just(nan) | st.just(10**400))
def test_a_bound_is_a_finite_number(name: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=rf"Threshold\.{name}"):
        Threshold(**{name: value})


@pytest.mark.parametrize(
    ("threshold", "text"),
    [
        (Threshold(gte=0.5), "≥ 0.5"),
        (Threshold(gt=0, lt=1), "< 1 and > 0"),
        (Threshold(lte=Fraction(1, 4)), "≤ 0.25"),  # type: ignore[arg-type]
        (Threshold(), ""),
    ],
)
def test_a_threshold_prints_a_sentence(threshold: Threshold, text: str) -> None:
    assert str(threshold) == text


def test_bounds_of_any_kind_of_number_are_alike() -> None:
    assert Threshold(gte=1) == Threshold(gte=1.0) == Threshold(gte=Fraction(1))  # type: ignore[arg-type]
    assert type(Threshold(gte=1).gte) is float


@pytest.mark.parametrize("value", [True, "1", None, 1j, [1], object()])
def test_invalid_numbers_are_named(value: Any) -> None:
    with pytest.raises(TypeError, match="the limit must be a number, not"):
        require_number(value, "the limit")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Usage(input_tokens=1.5), "Usage.input_tokens"),  # type: ignore[arg-type]
        (lambda: Usage(cost="1"), "Usage.cost"),  # type: ignore[arg-type]
        (lambda: Usage(model=5), "Usage.model"),  # type: ignore[arg-type]
        (lambda: Assertion("x", "yes", True), "Assertion.passed"),  # type: ignore[arg-type]
        (lambda: Assertion("x", True, None), "Assertion.required"),  # type: ignore[arg-type]
        (lambda: Assertion("x", True, True, ["why"]), "Assertion.metadata"),  # type: ignore[arg-type]
    ],
)
def test_other_fields_are_checked_too(make: Any, name: str) -> None:
    with pytest.raises(TypeError, match=name):
        make()


def test_evaluations_cannot_be_changed_afterwards() -> None:
    with pytest.raises(AttributeError):
        Evaluation(1).score = 0.5  # type: ignore[misc]
