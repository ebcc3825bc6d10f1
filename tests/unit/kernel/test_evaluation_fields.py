"""The types of fields of evaluations, usages and labels, and scales."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest

from scoregate.kernel.types.evaluation import (
    Assertion,
    Evaluation,
    EvaluationOverride,
    Label,
    Scale,
    Threshold,
    Usage,
    is_plain,
    require_number,
)

# Users call them with any values.
MAKE_USAGE: Any = Usage
MAKE_LABEL: Any = Label
MAKE_EVALUATION: Any = Evaluation
MAKE_ASSERTION: Any = Assertion


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MAKE_USAGE(output_tokens=1.5), "Usage.output_tokens must be of type Integral, not 1.5 (float)"),
        (lambda: MAKE_USAGE(cached_tokens="1"), "Usage.cached_tokens must be of type Integral, not '1' (str)"),
        (lambda: MAKE_USAGE(calls=None), "Usage.calls must be of type Integral, not None (NoneType)"),
        (lambda: MAKE_USAGE(stored=1.0), "Usage.stored must be of type Integral, not 1.0 (float)"),
        (lambda: MAKE_USAGE(model=5), "Usage.model must be of type str, not 5 (int)"),
        (lambda: MAKE_USAGE(answer=5), "Usage.answer must be of type str, not 5 (int)"),
        (lambda: MAKE_USAGE(unpriced=5), "Usage.unpriced must be of type str, not 5 (int)"),
        (lambda: MAKE_USAGE(cached=1), "Usage.cached must be of type bool, not 1 (int)"),
        (lambda: MAKE_USAGE(cost=True), "Usage.cost must be a number, not True (bool)"),
        (lambda: MAKE_LABEL(5), "Label.label must be of type str, not 5 (int)"),
        (lambda: MAKE_LABEL("a", usage=5), "Label.usage must be of type Usage, not 5 (int)"),
        (lambda: MAKE_EVALUATION(1, 0.5), "Evaluation.threshold must be of type Threshold, not 0.5 (float)"),
        (lambda: MAKE_EVALUATION(1, usage=5), "Evaluation.usage must be of type Usage, not 5 (int)"),
        (lambda: MAKE_EVALUATION(1, assertions=5), "Evaluation.assertions must be of type Sequence, not 5 (int)"),
        (
            lambda: MAKE_EVALUATION(1, assertions=[5]),
            "each of Evaluation.assertions must be of type Assertion, not 5 (int)",
        ),
        (lambda: MAKE_ASSERTION(5, True, True), "Assertion.criterion must be of type str, not 5 (int)"),
        (lambda: MAKE_ASSERTION("a", 2, True), "Assertion.passed must be a bool, not 2 (int)"),
        (lambda: MAKE_ASSERTION("a", True, "no"), "Assertion.required must be a bool, not 'no' (str)"),
        (lambda: MAKE_ASSERTION("a", True, True, 5), "Assertion.metadata must be of type Mapping, not 5 (int)"),
    ],
)
def test_a_field_of_a_wrong_type_is_named(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError) as exc_info:
        make()
    assert str(exc_info.value) == message


@pytest.mark.parametrize(
    ("value", "problem"), [(inf, "must be finite, not inf"), (10**400, "is too large for a float")]
)
def test_a_number_must_be_finite(value: float, problem: str) -> None:
    for make, name in ((lambda: Usage(cost=value), "Usage.cost"), (lambda: require_number(value, "it"), "it")):
        with pytest.raises(ValueError, match=f"^{name} {problem}"):
            make()


@pytest.mark.parametrize("score", [-0.001, 1.001, 2, -1])
def test_a_score_outside_of_its_range_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match=r"^Evaluation\.score must lie in \[0, 1\], not "):
        Evaluation(score)
    assert [Evaluation(each).score for each in (0, 1)] == [0.0, 1.0]


def test_numbers_of_other_libraries_become_plain_ones() -> None:
    usage = MAKE_USAGE(np.int64(1), np.int64(2), np.int64(3), np.float64(0.5), calls=np.int64(4), stored=np.int64(5))
    for name in ("input_tokens", "output_tokens", "cached_tokens", "calls", "stored"):
        assert type(getattr(usage, name)) is int
    assert usage == Usage(1, 2, 3, 0.5, calls=4, stored=5)
    assert type(usage.cost) is float
    assert type(MAKE_EVALUATION(np.float32(0.5)).score) is float
    assertion = MAKE_ASSERTION("a", np.bool_(True), 0)
    assert (assertion.passed, assertion.required) == (True, False)
    assert type(assertion.passed) is bool


def test_defaults_of_a_usage() -> None:
    usage = Usage()
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.calls, usage.stored) == (0, 0, 0, 1, 0)
    assert (usage.cost, usage.model, usage.answer, usage.cached, usage.unpriced) == (None, None, None, False, None)


@pytest.mark.parametrize(
    ("usage", "models"),
    [
        (Usage(), ()),
        (Usage(1), ("a model",)),
        (Usage(output_tokens=1, model="a, b"), ("a", "b")),
        (Usage(model="a"), ()),
        (Usage(1, cost=0, model="a"), ()),
        (Usage(1, cost=0, model="a", unpriced="b, c"), ("b", "c")),
    ],
)
def test_models_without_a_price_are_named(usage: Usage, models: tuple[str, ...]) -> None:
    assert usage.unpriced_models == models


def test_an_evaluation_is_plain_if_it_is_only_a_score() -> None:
    assert is_plain(Evaluation(1))
    assert is_plain(Evaluation(1, Threshold(gte=1)))
    for other in (Evaluation(1, metadata={}), Evaluation(1, assertions=[]), Evaluation(1, usage=Usage())):
        assert not is_plain(other)


def test_a_scale_maps_to_the_unit() -> None:
    scale = Scale(1, 5)
    assert [scale.part(value) for value in (1, 2, 5)] == [0.0, 0.25, 1.0]
    assert scale.threshold(Threshold(gt=1, lte=4)) == Threshold(gt=0.0, lte=0.75)
    assert (Scale().low, Scale().high) == (0.0, 1.0)
    for low, high in ((1, 1), (2, 1), (0, inf), (-1e308, 1e308)):
        with pytest.raises(ValueError, match="a scale goes from a number up to a greater one"):
            Scale(low, high)


def test_lists_of_an_override_are_its_own() -> None:
    override = EvaluationOverride(0.5, 1)
    assert (override.input_fields, override.output_fields, override.comments) == ([], [], [])
    assert override.comments is not EvaluationOverride(0.5, 1).comments


def test_a_bound_is_part_of_its_range_or_not() -> None:
    for bound, results in (
        ("lt", [True, False, False]),
        ("lte", [True, True, False]),
        ("gt", [False, False, True]),
        ("gte", [False, True, True]),
    ):
        assert [Threshold(**{bound: 0.5}).holds(score) for score in (0.25, 0.5, 0.75)] == results
    assert Threshold().holds(0.5) is None
