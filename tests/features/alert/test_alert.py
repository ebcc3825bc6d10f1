"""What a run of the base branch reports: a slow decline needs no second measurement, and a bad night does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from tests.features.alert.test_slow_decline import FALLING, compare_last, nights

from scoregate.features.alert.issue import has_recovered
from scoregate.features.alert.problems import Alert, AlertProblem, AlertState
from scoregate.features.alert.second_run import find_alert
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.job.steps import Work
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run

STOPPED = SimpleNamespace(stop=SimpleNamespace(is_set=lambda: True))


def find(comparison: Comparison, *, min_pass_rate: float = 0.0) -> Alert:
    """The alert, if nothing can be measured again."""
    verdict = evaluate_gates(comparison, Policy(Limits(min_pass_rate=min_pass_rate)))

    def judge(_: Run) -> Judged:
        raise AssertionError("nothing is measured again")

    work = cast("Work", SimpleNamespace(settings=Settings(), ports=STOPPED))
    return anyio.run(find_alert, work, Judged(comparison, verdict), judge)


def test_a_slow_decline_is_reported_at_once() -> None:
    alert = find(compare_last(nights()))
    (problem,) = alert.problems
    assert alert.state is AlertState.CONFIRMED
    assert problem.key == ("demo", "e", "")
    assert problem.text == "0.995 → 0.930 (−0.065, newest 5 runs against the 6 before them, nothing changed)"
    assert (problem.base, problem.mean) == (pytest.approx(0.995), pytest.approx(0.93))


def test_without_a_decline_nothing_is_reported() -> None:
    assert find(compare_last(nights((0, 1) * 6))) == Alert(AlertState.NONE)


def test_a_gate_that_nothing_confirms_stays_out() -> None:
    steady, falling = (compare_last(nights(failing)) for failing in ((30,) * 11, FALLING))
    unknown = find(steady, min_pass_rate=0.95)
    assert (unknown.state, [each.rule for each in unknown.problems]) == (AlertState.UNKNOWN, ["pass rate"])
    reported = find(falling, min_pass_rate=0.95)
    assert (reported.state, [each.rule for each in reported.problems]) == (AlertState.CONFIRMED, [""])


def test_a_slow_decline_has_recovered_nearer_to_the_mean_of_before() -> None:
    problem = AlertProblem("demo", "e", "", "", 0.995, 0.93)
    for mean, recovered in ((0.95, False), (0.97, True)):
        row = SimpleNamespace(row=SimpleNamespace(suite="demo", evaluator="e", mean=mean))
        view = cast("Any", SimpleNamespace(findings=(), rows=(row,)))
        assert has_recovered(problem, view) is recovered
