"""Where trials of a suite come from, and which of them count."""

from __future__ import annotations

import pytest

from scoregate.core.runs.case_columns import Columns
from scoregate.core.runs.dependencies import CarriedFrom
from scoregate.core.runs.evidence import TrialRole, Use
from scoregate.core.runs.run import SuiteResult

SOURCE = CarriedFrom("1", "main")


def suite(*, carried: CarriedFrom | None = None, kept: CarriedFrom | None = None) -> SuiteResult:
    return SuiteResult("s", "s", columns=Columns(hashes=["a", "b", "c"], reused={1}), carried=carried, kept=kept)


@pytest.mark.parametrize(
    ("known", "rows", "others"),
    [
        (suite(), [0, 1, 2], []),  # an earlier attempt measured the second trial
        (suite(kept=SOURCE), [0, 2], [1]),
        (suite(carried=SOURCE), [], [0, 1, 2]),
    ],
)
def test_only_trials_of_this_run_and_its_attempts_are_tested(
    known: SuiteResult, rows: list[int], others: list[int]
) -> None:
    evidence = known.evidence
    assert (list(evidence.rows(Use.TEST)), sorted(evidence.rows_without(Use.TEST))) == (rows, others)
    assert (evidence.counts(Use.TEST), evidence.counts_all(Use.TEST)) == (bool(rows), not others)


def test_an_arm_without_a_skill_counts_for_the_error_rate_alone() -> None:
    arm = SuiteResult("s", "s", params={"task": "without"}, evaluators={"expectations": None})  # type: ignore[dict-item]
    assert arm.role is TrialRole.WITHOUT
    assert [arm.evidence.counts(use) for use in (Use.ERRORS, Use.LIMITS)] == [True, False]
