"""What each kind of trial counts for, and the tally of a suite at its start and end."""

from __future__ import annotations

import pytest

from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.events import CaseFinished, SuiteFinished, SuiteStarted
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.evidence import (
    COUNTS,
    Evidence,
    TrialMark,
    TrialOrigin,
    TrialRole,
    Trials,
    Use,
    does_count,
    list_sources,
)
from scoregate.kernel.types.runs.reducer import SuiteReducer
from scoregate.kernel.types.runs.tally import SuiteSums, Tally, tally_suite

ALL = set(Use)
# What shows the suite as it is now also counts trials that the base's run measured; what proves something does not.
OF_ANOTHER_RUN = {Use.LIMITS, Use.AMOUNTS, Use.ERRORS, Use.ROWS, Use.MEANS, Use.OLDER}
# Each attempt has its own costs and errors, and is kept apart wherever runs are stored.
OF_ONE_ATTEMPT = {Use.AMOUNTS, Use.ERRORS, Use.SPENT, Use.FRESH, Use.STABLE, Use.EARLIER, Use.DATABASE}
OF_OTHER_CASES = OF_ANOTHER_RUN | {Use.SLICES, Use.FAILURES, Use.REPEATS, Use.AGAIN}


@pytest.mark.parametrize(
    ("kind", "uses"),
    [
        (TrialOrigin.MEASURED, ALL),
        (TrialOrigin.RESUMED, ALL - {Use.FRESH}),
        (TrialOrigin.ATTEMPT, ALL - OF_ONE_ATTEMPT),
        (TrialOrigin.KEPT, OF_OTHER_CASES),
        (TrialOrigin.CARRIED, OF_ANOTHER_RUN),
        (TrialRole.MAIN, ALL - {Use.FRESH, Use.STABLE}),
        (TrialRole.EXTRA, {Use.TEST, Use.SLICES}),
        (TrialRole.CONTROL, {Use.CONTROL}),
        (TrialRole.RETRY, {Use.FAILURES}),
        (TrialRole.WITHOUT, {Use.AMOUNTS, Use.ERRORS, Use.EARLIER, Use.HISTORY, Use.DATABASE, Use.SPENT}),
        (TrialMark.EXCUSED, {Use.AMOUNTS, Use.SPENT, Use.STABLE}),
    ],
)
def test_each_kind_of_trial_counts_for_some_uses(kind: TrialOrigin | TrialRole | TrialMark, uses: set[Use]) -> None:
    assert {use for use in COUNTS if does_count(kind, use)} == uses


def make_columns(*sources: int) -> Columns:
    columns = Columns()
    for index, _ in enumerate(sources):
        columns.add(CaseResult(0, f"c{index}", evaluations={"e": Evaluation(index / 10)}))
    columns.sources[:] = bytes(sources)
    return columns


def test_trials_come_from_this_run_or_another() -> None:
    base = CarriedFrom("b", "main")
    measured, kept, carried = list_sources(), list_sources(kept=base), list_sources(carried=base)
    for sources, origins in (
        (measured, [TrialOrigin.MEASURED, TrialOrigin.RESUMED]),
        (kept, [TrialOrigin.MEASURED, TrialOrigin.KEPT]),
        (carried, [TrialOrigin.CARRIED, TrialOrigin.CARRIED]),
    ):
        assert [source.origin for source in sources] == origins
    assert Trials(sources=kept).find_run(TrialOrigin.KEPT) == base
    assert Trials(sources=kept).find_run(TrialOrigin.CARRIED) is None
    assert Evidence(TrialRole.MAIN, Trials(sources=carried)).runs == {"b"}
    assert Evidence(TrialRole.MAIN, Trials()).runs == set()


def test_rows_that_do_not_count_are_left_out() -> None:
    columns, base = make_columns(0, 1, 0, 1), CarriedFrom("b", "main")
    kept = Evidence(TrialRole.MAIN, Trials(columns, list_sources(kept=base), excused=make_columns(0, 1)))
    assert (kept.counts(Use.TEST), kept.counts_all(Use.TEST), kept.counts_all(Use.ROWS)) == (True, False, True)
    assert (set(kept.rows_without(Use.TEST)), list(kept.rows_without(Use.ROWS))) == ({1, 3}, [])
    assert set(kept.rows_without(Use.TEST, make_columns(1, 0))) == {0}
    assert list(kept.list_amounts(Use.SPENT, lambda each: each.scores["e"])) == [0.0, 0.0, 0.2]
    assert list(kept.list_amounts(Use.TEST, lambda each: each.scores["e"])) == [0.0, 0.2]
    assert list(kept.list_amounts(Use.ROWS, lambda each: each.scores["e"])) == pytest.approx([0.0, 0.1, 0.2, 0.3])
    extra = Evidence(TrialRole.EXTRA, Trials(columns))
    assert (extra.counts(Use.ROWS), list(extra.rows_without(Use.ROWS))) == (False, [0, 1, 2, 3])
    assert not Evidence(TrialRole.MAIN, Trials(columns, list_sources(carried=base))).counts(Use.TEST)


def test_a_tally_says_whether_its_suite_is_finished() -> None:
    suite = SuiteReducer(0, "s")
    assert tally_suite(suite, "log", SuiteSums()) == Tally("log", "s")
    suite.apply(SuiteStarted(suite="s", cases=2, params={"a": 1}))
    suite.apply(CaseFinished(suite="s", case="c"))
    running = tally_suite(suite, "log", SuiteSums())
    assert (running.label, running.planned, running.done, running.cases) == ("s [a=1]", 2, 1, 1)
    assert (running.finished, running.duration_s, running.states) == (False, None, {Status.UNSCORED: 1})
    suite.apply(SuiteFinished(suite="s", duration_s=2.5))
    finished = tally_suite(suite, "log", SuiteSums())
    assert (finished.finished, finished.duration_s, finished.repeated_rate) == (True, 2.5, None)
    assert (Tally("log", "s").finished, Tally("log", "s").cost, Tally("log", "s").done) == (False, 0.0, 0)
