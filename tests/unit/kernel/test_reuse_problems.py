"""Why results can't be reused, what running a case again says, and the targets of suites."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs.cases import CaseError, CaseResult
from scoregate.kernel.types.runs.confirmations import (
    Confirmation,
    ConfirmationOutcome,
    confirmations_of,
    is_decided,
    with_confirmations,
)
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.reuse import FAILED, WAITING, suite_reuse_problem, trial_reuse_problem
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.kernel.types.runs.suite_targets import match_base_targets

MARK = Fingerprint(source="a")
CODE = EvaluatorInfo("code", MARK)


def find_problem(new: list[EvaluatorInfo], old: list[EvaluatorInfo]) -> str:
    return suite_reuse_problem({each.id: each for each in new}, {each.id: each for each in old})


@pytest.mark.parametrize(
    ("new", "old", "problem"),
    [
        ([], [], ""),
        ([CODE], [CODE], ""),
        ([EvaluatorInfo("judge", Fingerprint(prompt="p"))], [EvaluatorInfo("judge", Fingerprint(prompt="p"))], ""),
        ([CODE], [], "its scorers changed"),
        ([], [CODE], "its scorers changed"),
        ([CODE], [EvaluatorInfo("other", MARK)], "its scorers changed"),
        ([EvaluatorInfo("code")], [EvaluatorInfo("code")], "it can't be checked whether code has changed"),
        (
            [EvaluatorInfo("code", Fingerprint(version="1"))],
            [EvaluatorInfo("code", Fingerprint(version="1"))],
            "it can't be checked whether code has changed",
        ),
        ([CODE], [EvaluatorInfo("code", Fingerprint(source="b"))], "code: its code changed"),
        ([CODE], [replace(CODE, boolean=True)], "code: it changed"),
        (
            [replace(CODE, battles=True)],
            [replace(CODE, battles=True)],
            "code compares outputs with baseline outputs, which may have changed",
        ),
        # The parts of an evaluator are recorded, and the evaluator is declared.
        ([CODE], [replace(CODE, id="code.part")], ""),
        ([replace(CODE, id="code.part")], [CODE], ""),
        ([replace(CODE, id="code.one")], [replace(CODE, id="code.two")], ""),
        (
            [replace(CODE, id="code.one")],
            [EvaluatorInfo("code.two", Fingerprint(source="b"))],
            "its scorers changed",
        ),
        ([replace(CODE, id="codes")], [CODE], "its scorers changed"),
        ([replace(CODE, id="a.one")], [replace(CODE, id="b.one")], "its scorers changed"),
        ([CODE, replace(CODE, id="other")], [CODE], "its scorers changed"),
    ],
)
def test_results_are_reused_if_their_evaluators_are_the_same(
    new: list[EvaluatorInfo], old: list[EvaluatorInfo], problem: str
) -> None:
    assert find_problem(new, old) == problem


def test_a_trial_with_an_error_or_a_review_is_not_reused() -> None:
    error = CaseError(ErrorInfo("E", "m"))
    assert trial_reuse_problem(CaseResult(0, "c")) == ""
    assert trial_reuse_problem(CaseResult(0, "c", pending=("human",))) == WAITING
    assert trial_reuse_problem(CaseResult(0, "c", errors=[error], pending=("human",))) == FAILED


@pytest.mark.parametrize(
    ("tries", "base_tries", "outcome"),
    [
        ("", "", ConfirmationOutcome.OPEN),
        ("+--", "", ConfirmationOutcome.OPEN),
        ("++", "---", ConfirmationOutcome.CLEARED),
        ("-+-+", "", ConfirmationOutcome.CLEARED),
        ("---", "", ConfirmationOutcome.CONFIRMED),
        ("---", "--+", ConfirmationOutcome.CONFIRMED),
        ("---", "---", ConfirmationOutcome.FAILS_IN_BASE),
        ("-+--", "+---", ConfirmationOutcome.FAILS_IN_BASE),
    ],
)
def test_two_passes_clear_a_case_and_three_failures_confirm_it(
    tries: str, base_tries: str, outcome: ConfirmationOutcome
) -> None:
    passed, base_passed = (tuple(each == "+" for each in row) for row in (tries, base_tries))
    assert Confirmation("s", "c", passed, base_passed).outcome is outcome
    assert is_decided(passed) is (outcome is not ConfirmationOutcome.OPEN)


def make_run(*suites: tuple[str, str | None, dict[str, Any] | None]) -> Run:
    made = tuple(SuiteResult(name, name, script=script, params=params) for name, script, params in suites)
    return Run("r", 0, RunEnd(0), RunCode("1"), suites=made)


def test_confirmations_are_stored_in_the_run() -> None:
    one = Confirmation("s", "c", (True, True))
    run = with_confirmations(make_run(), [one])
    assert confirmations_of(run) == (one,)
    assert confirmations_of(with_confirmations(run, [])) == confirmations_of(make_run()) == ()


def list_targets(run: Run) -> list[Any]:
    return [None if suite.params is None else suite.params.get("target") for suite in run.suites]


@pytest.mark.parametrize(
    ("suites", "base_suites", "targets"),
    [
        ([("s", "a", {"target": "x"})], [("s", "a", {"target": "y"})], ["x"]),
        ([("s", "a", {"target": "x"})], [("s", "b", {"target": "y"})], ["x"]),
        ([("s", "a", {"target": "x"})], [("s", "a", None)], ["x"]),
        ([("s", "a", None)], [("s", "a", {"target": "y"})], [None]),
        ([("s", "a", {"target": "x"})], [("t", "a", {"target": "y"})], ["y"]),
        ([("s", "a", {"target": "x", "p": 1})], [("s", "a", {"target": "y", "p": 2})], ["y"]),
        ([("s", "a", {"target": "x"}), ("s", "a", {"target": "z"})], [("s", "a", {"target": "y"})], ["y"]),
        ([("s", "a", {"target": "x"})], [("s", "a", {"target": "y"}), ("s", "a", {"target": "z"})], ["y", "z"]),
        (
            [("s", "a", {"target": "x"}), ("s", "b", {"target": "z"})],
            [("s", "a", {"target": "y"}), ("s", "b", {"target": "w"})],
            ["x", "z"],
        ),
    ],
)
def test_a_single_suite_of_a_baseline_gets_the_target_of_the_run(
    suites: Any, base_suites: Any, targets: list[str | None]
) -> None:
    run, base = make_run(*suites), make_run(*base_suites)
    assert list_targets(match_base_targets(run, base)) == targets


def test_a_baseline_with_the_same_targets_is_returned_as_it_is() -> None:
    run = make_run(("s", "a", {"target": "x"}), ("t", "a", None))
    base = make_run(("s", "a", {"target": "x"}), ("t", "a", {}))
    assert match_base_targets(run, base) is base
    other = make_run(("s", "a", {"target": "y"}))
    changed = match_base_targets(run, other.add_companion(TrialRole.CONTROL, other))
    assert [list_targets(each) for each in (changed, *changed.companions_of(TrialRole.CONTROL))] == [["x"], ["x"]]
