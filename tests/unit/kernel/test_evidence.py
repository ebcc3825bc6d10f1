"""Where trials of a suite come from, and which of them count."""

from __future__ import annotations

import pytest

from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.evidence import TrialRole, Trials, Use, list_sources
from scoregate.kernel.types.runs.run import SuiteResult

RUN = CarriedFrom("1", "main")


def make_suite(**run: CarriedFrom) -> SuiteResult:
    """A suite of three trials, and of two in quarantine; of both, the second is reused."""
    columns, excused = Columns(), Columns()
    for name, cost in (("a", 1), ("b", 2), ("c", 4), ("d", 8), ("e", 16)):
        case = CaseResult(0, name, usage=Usage(cost=cost), reused="1" if name in "be" else None)
        (columns if name in "abc" else excused).add(case)
    return SuiteResult("s", "s", trials=Trials(columns, list_sources(**run), excused))


@pytest.mark.parametrize(
    ("known", "others"),
    [
        (make_suite(), []),  # an earlier attempt measured the second trial
        (make_suite(kept=RUN), [1]),
        (make_suite(carried=RUN), [0, 1, 2]),
    ],
)
def test_only_trials_of_this_run_and_its_attempts_are_tested(known: SuiteResult, others: list[int]) -> None:
    evidence = known.evidence
    assert sorted(evidence.rows_without(Use.TEST)) == others
    assert (evidence.counts(Use.TEST), evidence.counts_all(Use.TEST)) == (len(others) < 3, not others)
    part = known.select(Use.TEST)
    assert [case for row, case in enumerate("abc") if row not in others] == part.columns.hashes
    assert list(part.columns.sources) == [number for row, number in enumerate([0, 1, 0]) if row not in others]


def test_trials_are_not_copied_if_all_count() -> None:
    known = make_suite(kept=RUN)
    assert known.select(Use.LIMITS) is known
    assert known.select(Use.TEST).columns is not known.columns


@pytest.mark.parametrize(
    ("known", "spent"),
    [(make_suite(), [8, 16, 1, 2, 4]), (make_suite(kept=RUN), [8, 1, 4]), (make_suite(carried=RUN), [])],
)
def test_a_run_spends_what_it_measured_in_quarantine_or_not(known: SuiteResult, spent: list[float]) -> None:
    assert list(known.evidence.list_amounts(Use.SPENT, lambda columns: columns.costs)) == spent


def test_an_arm_without_a_skill_counts_for_the_error_rate_alone() -> None:
    arm = SuiteResult("s", "s", params={"task": "without"}, evaluators={"expectations": None})  # type: ignore[dict-item]
    assert arm.role is TrialRole.WITHOUT
    assert [arm.evidence.counts(use) for use in (Use.ERRORS, Use.LIMITS)] == [True, False]
