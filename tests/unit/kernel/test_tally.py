"""The tally that progress shows while trials arrive."""

from __future__ import annotations

from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.events import CaseFinished, CaseOutput, CaseStarted, Scored, SuiteFinished
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.reducer import SuiteReducer
from scoregate.kernel.types.runs.tally import SuiteSums, Tally, tally_suite


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


def test_the_pass_rate_is_the_share_of_verdicts() -> None:
    def rate(passed: int, failed: int, repeated_rate: float | None = None) -> float | None:
        states = {Status.PASSED: passed, Status.FAILED: failed, Status.ERRORED: 5}
        return Tally("log", "demo", states=states, repeated_rate=repeated_rate).pass_rate

    assert (rate(3, 1), rate(2, 2), rate(0, 2), rate(0, 0), rate(3, 1, 0.5)) == (0.75, 0.5, 0.0, None, 0.5)
    assert Tally("log", "demo").pass_rate is None


def test_the_cost_of_a_suite_counts_calls_of_no_case() -> None:
    suite = SuiteReducer(0, "demo")
    for event in (
        CaseStarted(suite="demo", case="a"),
        CaseOutput(suite="demo", case="a", output="", usage=Usage(cost=0.25)),
        CaseFinished(suite="demo", case="a"),
        SuiteFinished(suite="demo", usage=Usage(cost=0.5)),
    ):
        suite.apply(event)
    assert tally_suite(suite, "log", SuiteSums()).cost == 0.75


def test_means_of_repeated_cases_are_read_again_after_a_tenth_more_trials() -> None:
    suite, sums = SuiteReducer(0, "demo"), SuiteSums()

    def add(first: int, last: int) -> None:
        for number in range(first, last):
            key = {"suite": "demo", "case": f"case {number % 10}", "repeat": number // 10}
            suite.apply(CaseStarted(**key))
            suite.apply(Scored(**key, evaluator="e", score=float(number < 20)))
            suite.apply(CaseFinished(**key))

    means = []
    for first, last in ((0, 20), (20, 21), (21, 22)):
        add(first, last)
        means.append(tally_suite(suite, "log", sums).means["e"])
    assert means[:2] == [1.0, 1.0]
    assert means[2] == (8 + 2 * 2 / 3) / 10
