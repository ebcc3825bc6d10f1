"""The counts over all suites, and how they differ from the base's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean

from scoregate.ci.report.spending import total
from scoregate.core.case import Status
from scoregate.core.columns import Columns
from scoregate.core.compare import Comparison
from scoregate.core.flips import passing
from scoregate.core.record import SuiteResult


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of trials over all suites; `cases` counts a case once, however often it was repeated.

    `pass_rate` is of the trials that met or missed a threshold; `pass_rate_change` is over the `paired` cases
    that did so in both runs, by the same evaluators. Costs are US dollars, `cost_change` over the suites of both runs.
    """

    suites: int
    cases: int
    trials: int
    passed: int
    failed: int
    errored: int
    scored: int
    unscored: int
    with_errors: int
    pending: int
    newly_failing: int
    newly_passing: int
    pass_rate: float | None
    pass_rate_change: float | None
    paired: int
    cost: float | None
    cost_change: float | None
    tokens: float | None
    duration_s: float


def totals(comparison: Comparison) -> Totals:
    """Everything counted once."""
    suites = [suite.columns for suite in comparison.run.suites]
    passed, failed = _count(suites, Status.PASSED), _count(suites, Status.FAILED)
    changes = _changes(comparison)
    return Totals(
        suites=len(suites),
        cases=sum(len(set(columns.hashes)) for columns in suites),
        trials=sum(map(len, suites)),
        passed=passed,
        failed=failed,
        errored=_count(suites, Status.ERRORED),
        scored=_count(suites, Status.SCORED),
        unscored=_count(suites, Status.UNSCORED),
        with_errors=sum(len(columns.erring()) for columns in suites),
        pending=sum(columns.pending for columns in suites),
        newly_failing=len(comparison.newly_failing),
        newly_passing=len(comparison.newly_passing),
        pass_rate=passed / (passed + failed) if passed + failed else None,
        pass_rate_change=fmean(changes) if changes else None,
        paired=len(changes),
        cost=total(suite.cost for suite in comparison.run.suites),
        cost_change=_cost_change(comparison),
        tokens=total(suite.tokens for suite in comparison.run.suites),
        duration_s=max(0.0, comparison.run.finished - comparison.run.started),
    )


def paired_suites(comparison: Comparison) -> Iterator[tuple[SuiteResult, SuiteResult]]:
    """The suites that both runs have: the run's, the base's."""
    if comparison.base is not None:
        for new, old in comparison.pairs:
            yield comparison.run.suites[new], comparison.base.suites[old]


def _count(suites: Iterable[Columns], status: Status) -> int:
    return sum(columns.count(status) for columns in suites)


def _changes(comparison: Comparison) -> list[float]:
    """How much more, or less, of its trials each case passes than in the base."""
    if comparison.base is None:
        return []
    return [now - before for now, before in passing(comparison.run, comparison.base, comparison.pairs)]


def _cost_change(comparison: Comparison) -> float | None:
    changes = [
        now - before
        for new, old in paired_suites(comparison)
        if (now := new.cost) is not None and (before := old.cost) is not None
    ]
    return sum(changes) if changes else None
