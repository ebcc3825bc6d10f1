"""The rule `new_errors` with repeats and clusters: as many errors as before aren't more."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import Verdict, evaluate_gates
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import STATUSES, Status
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.kernel.types.runs.text_column import TextColumn

POLICY = Policy(Limits(fail_on_regression=True, max_error_rate=None))


def run_of(errors: Sequence[Sequence[bool]], *, cluster_size: int = 1) -> Run:
    """A run in which these trials of each case have an error, and all others the score 1."""
    trials = [(f"c{case}", each, repeat) for case, row in enumerate(errors) for repeat, each in enumerate(row)]
    columns = Columns(hashes=[case for case, _, _ in trials], repeats=array("l", [repeat for *_, repeat in trials]))
    columns.digests = TextColumn([""] * len(trials))
    columns.statuses = bytearray(STATUSES.index(Status.ERRORED if error else Status.PASSED) for _, error, _ in trials)
    columns.scores["e"] = array("d", [float("nan") if error else 1.0 for _, error, _ in trials])
    for name in ("durations_ms", "costs", "tokens"):
        setattr(columns, name, array("d", [float("nan")] * len(trials)))
    if cluster_size > 1:
        columns.clusters = {row: str(int(case[1:]) // cluster_size) for row, (case, _, _) in enumerate(trials)}
    suite = SuiteResult("bot", "bot", evaluators={"e": EvaluatorInfo("e")}, trials=Trials(columns), complete=True)
    return Run("run", started=0, end=RunEnd(1, complete=True), code=RunCode("1"), suites=(suite,))


def judge(run: Run, base: Run) -> list[str]:
    found: Verdict = evaluate_gates(compare(run, base), POLICY)
    return [each.value for each in found.failed if each.rule == "new errors"]


def test_more_trials_on_one_side_are_not_more_errors() -> None:
    # One trial in ten meets an error on both sides, so that five trials of a case meet one more often than one trial.
    base = run_of([[case % 10 == 0] for case in range(200)])
    run = run_of([[(case + 3 + repeat) % 10 == 0 for repeat in range(5)] for case in range(200)])
    assert judge(run, base) == []
    assert judge(run_of([[case % 3 == 1] * 5 for case in range(200)]), base) == [
        "60 of 200 cases newly meet an error, 13 don't any more"
    ]


def test_cases_with_a_common_error_count_once() -> None:
    base, broken = run_of([[False]] * 200), [[case < 20] for case in range(200)]
    assert judge(run_of(broken), base) == ["20 of 200 cases newly meet an error, 0 don't any more"]
    assert judge(run_of(broken, cluster_size=5), run_of([[False]] * 200, cluster_size=5)) == []
    assert judge(run_of(broken, cluster_size=2), run_of([[False]] * 200, cluster_size=2)) != []
