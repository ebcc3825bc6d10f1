"""The tally that progress shows while trials arrive."""

from __future__ import annotations

from scoregate.core.evaluation import Usage
from scoregate.core.events import CaseFinished, CaseOutput, CaseStarted, Scored
from scoregate.core.runs.reducer import SuiteReducer
from scoregate.core.runs.tally import SuiteSums, tally_suite


def test_a_tally_counts_all_trials_at_any_time() -> None:
    suite, sums = SuiteReducer(0, "demo"), SuiteSums()
    for number, score in enumerate((1.0, 0.0, 0.5, 0.5)):
        key = {"suite": "demo", "case": f"case {number}"}
        suite.apply(CaseStarted(**key))
        suite.apply(CaseOutput(**key, output="", usage=Usage(cost=0.25) if number else None))
        suite.apply(Scored(**key, evaluator="always", score=score))
        if number not in (1, 3):
            suite.apply(Scored(**key, evaluator="sometimes", score=score))
        suite.apply(CaseFinished(**key))
        if number != 2:
            tally_suite(suite, "log", sums)
    for known in (sums, SuiteSums()):
        tally = tally_suite(suite, "log", known)
        assert tally.done == 4
        assert tally.means == {"always": 0.5, "sometimes": 0.75}
        assert tally.cost == 0.75
