"""With `assert_test`, a failing suite raises, and its log has the failure first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.builders import FAIL, Case, Judge, passing, read_events, run

from scoregate.errors import ScoregateError, SuiteFailed
from scoregate.kernel.types.events import SuiteFinished
from scoregate.testing.models import Evaluation


def failing(test_case: Case, _output: Any) -> Evaluation:
    return FAIL if test_case.input == "b" else passing()


def raising(test_case: Case) -> str:
    assert test_case.input != "b", "not b"
    return test_case.input


FAILURES: dict[str, dict[str, Any]] = {
    "a case fails": {"evaluators": [Judge(failing)]},
    "fn raises": {"fn": raising, "evaluators": [Judge(passing)]},
    "an evaluator raises": {"evaluators": [Judge(lambda case, _: raising(case) and passing())]},
    "nothing is evaluated": {"evaluators": []},
    "there are no cases": {"test_cases": [], "evaluators": [Judge(passing)]},
    "the suite has a problem": {"test_cases": [Case("a"), Case("a")], "evaluators": [Judge(passing)]},
    "a combination fails": {"evaluators": [Judge(failing)], "grid_search_params": {"x": [1, 2]}},
}
FAILING = pytest.mark.parametrize("options", FAILURES.values(), ids=FAILURES)


def assertion_results(folder: Path) -> set[bool]:
    return {event.assertion_failed for event in read_events(folder) if isinstance(event, SuiteFinished)}


@FAILING
def test_failures_raise(options: dict[str, Any]) -> None:
    with pytest.raises(SuiteFailed, match="demo"):
        run(**options, assert_test=True)


@FAILING
def test_the_log_has_it(options: dict[str, Any], events: Path) -> None:
    with pytest.raises(AssertionError):
        run(**options, assert_test=True)
    assert assertion_results(events) == {True}


@FAILING
def test_without_it_nothing_raises(options: dict[str, Any], events: Path) -> None:
    assert not run(**options).passed
    assert assertion_results(events) == {False}


def test_a_suite_that_passes_does_not_raise(events: Path) -> None:
    assert run(evaluators=[Judge(passing)], assert_test=True).passed
    assert assertion_results(events) == {False}


def test_an_evaluator_without_evaluation_is_no_failure() -> None:
    assert run(evaluators=[Judge(lambda *_: None), Judge(passing, "other")], assert_test=True).passed
    with pytest.raises(SuiteFailed, match="every scorer returned None"):
        run(evaluators=[Judge(lambda *_: None)], assert_test=True)


def test_a_score_without_a_threshold_is_no_failure() -> None:
    assert run(evaluators=[Judge(lambda *_: Evaluation(0))], assert_test=True).passed


def test_the_message_names_what_failed_and_why() -> None:
    def score(test_case: Case, _output: Any) -> Evaluation:
        metadata = {"missing": ["world"]}
        return Evaluation(0.25, FAIL.threshold, metadata) if test_case.input == "b" else passing()

    with pytest.raises(SuiteFailed) as exc_info:
        run(evaluators=[Judge(score, "has-words")], assert_test=True)
    message = str(exc_info.value)
    assert "3 cases" in message
    assert "failed b: has-words 0.25, not ≥ 1 (missing: ['world'])" in message


def test_it_is_an_assertion_and_one_of_our_errors() -> None:
    assert issubclass(SuiteFailed, AssertionError)
    assert issubclass(SuiteFailed, ScoregateError)
    assert SuiteFailed.exit_code == 1


@pytest.mark.parametrize("count", [6, 40])
def test_the_message_stays_short(count: int) -> None:
    fn: Callable[[Case], str] = lambda _: 1 / 0  # type: ignore[assignment, return-value]  # noqa: E731
    with pytest.raises(SuiteFailed) as exc_info:
        run(fn, [], [Case(str(number)) for number in range(count)], assert_test=True)
    lines = str(exc_info.value).splitlines()
    assert len(lines) == 7
    assert lines[-1] == f"    … and {count - 5} more"
