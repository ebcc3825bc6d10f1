"""An invalid score is an error of that one evaluation."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from tests.unit.testing.builders import AsyncJudge, Case, Judge, by_hash, passing, run

from scoregate.kernel.types.evaluation import Usage
from scoregate.testing.models import Assertion, Evaluation, Threshold


class Float32(float):
    """Like numpy's, a subclass of float."""


class Awkward:
    def __repr__(self) -> str:
        raise OSError("no repr")


GOOD: list[Any] = [0, 1, 0.5, Fraction(1, 3), Float32(0.25)]
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "a bool": (lambda: Evaluation(True), "Evaluation.score must be a number, not True (bool)"),
    "NaN": (lambda: Evaluation(float("nan")), "Evaluation.score must lie in [0, 1], not nan"),
    "infinity": (lambda: Evaluation(float("inf")), "Evaluation.score must lie in [0, 1], not inf"),
    "a text": (lambda: Evaluation("0.5"), "Evaluation.score must be a number, not '0.5' (str)"),  # type: ignore[arg-type]
    "None": (lambda: Evaluation(None), "Evaluation.score must be a number, not None (NoneType)"),  # type: ignore[arg-type]
    "too high": (lambda: Evaluation(1.2), "Evaluation.score must lie in [0, 1], not 1.2"),
    "too low": (lambda: Evaluation(-0.1), "Evaluation.score must lie in [0, 1], not -0.1"),
    "a little too high": (lambda: Evaluation(1 + 2**-52), "Evaluation.score must lie in [0, 1]"),
    "of ten": (lambda: Evaluation(7), "Evaluation.score must lie in [0, 1], not 7.0"),
    "too large for a float": (lambda: Evaluation(10**400), "Evaluation.score is too large for a float"),
    "a Decimal": (lambda: Evaluation(Decimal("0.5")), "Evaluation.score must be a number"),  # type: ignore[arg-type]
    "a complex": (lambda: Evaluation(0.5 + 0j), "Evaluation.score must be a number"),  # type: ignore[arg-type]
    "a number as threshold": (lambda: Evaluation(1, 0.5), "Evaluation.threshold must be of type Threshold, not 0.5"),  # type: ignore[arg-type]
    "a bound that is NaN": (lambda: Evaluation(1, Threshold(gte=float("nan"))), "Threshold.gte must be finite"),
    "a bound that is a text": (lambda: Evaluation(1, Threshold(lt="1")), "Threshold.lt must be a number"),  # type: ignore[arg-type]
    "texts as assertions": (lambda: Evaluation(1, assertions=["x"]), "each of Evaluation.assertions must be of type"),  # type: ignore[list-item]
    "an iterator of assertions": (lambda: Evaluation(1, assertions=iter([])), "Evaluation.assertions must be of type"),  # type: ignore[arg-type]
    "an assertion about nothing": (lambda: Assertion(None, True, True), "Assertion.criterion must be of type str"),  # type: ignore[arg-type]
    "an assertion half passed": (lambda: Assertion("x", 0.5, True), "Assertion.passed must be a bool, not 0.5"),  # type: ignore[arg-type]
    "a dict as usage": (lambda: Evaluation(1, usage={"cost": 1}), "Evaluation.usage must be of type Usage"),  # type: ignore[arg-type]
    "tokens that are no number": (lambda: Evaluation(1, usage=Usage("5")), "Usage.input_tokens must be of type"),  # type: ignore[arg-type]
    "metadata without a JSON form": (lambda: Evaluation(1, metadata={"x": object()}), "object"),
    "a bare number": (lambda: 0.5, "the evaluator must return an Evaluation or None, not float: 0.5"),
    "a bool instead": (lambda: False, "must return an Evaluation or None, not bool: False"),
    "a dict instead": (lambda: {"score": 1}, "must return an Evaluation or None, not dict: {'score': 1}"),
    "a list of evaluations": (lambda: [passing()], "must return an Evaluation or None, not list"),
    "the class": (lambda: Evaluation, "must return an Evaluation or None, not type"),
    "what cannot be shown": (Awkward, "no repr"),
}  # fmt: skip


@pytest.mark.parametrize("kind", [Judge, AsyncJudge])
@pytest.mark.parametrize(("make", "message"), BAD.values(), ids=BAD)
def test_bad_scores_fail_their_evaluation(make: Callable[[], Any], message: str, kind: type[Judge]) -> None:
    def score(test_case: Case, _output: str) -> Any:
        return make() if test_case.input == "b" else passing()

    async def later(test_case: Case, output: str) -> Any:
        return score(test_case, output)

    result = run(evaluators=[kind(score if kind is Judge else later, "odd"), Judge(passing, "good")])
    case_by_hash = by_hash(result)
    (error,) = case_by_hash["b"].errors
    assert error.evaluator == "odd"
    assert message in error.error.message
    assert set(case_by_hash["b"].evaluations) == {"good"}
    assert all(set(case_by_hash[key].evaluations) == {"odd", "good"} for key in "ac")


@pytest.mark.parametrize("score", GOOD, ids=repr)
def test_any_real_number_in_range_is_a_score(score: Any) -> None:
    result = run(evaluators=[Judge(lambda *_: Evaluation(score, Threshold(gte=score)))])
    assert result.passed
    assert result.mean("judge") == pytest.approx(float(score))
    assert all(type(case.evaluations["judge"].score) is float for case in result.cases)


def test_none_is_no_evaluation_and_no_error() -> None:
    case = by_hash(run(evaluators=[Judge(lambda *_: None), Judge(passing, "good")]))["a"]
    assert (case.unscored, case.errors, set(case.evaluations)) == (("judge",), [], {"good"})


def test_flags_of_arrays_are_bools() -> None:
    assertion = Assertion("x", 1, 0)  # type: ignore[arg-type]
    assert (assertion.passed, assertion.required) == (True, False)
    assert type(assertion.passed) is bool
