"""The counts over all suites, and how they differ from the base's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scoregate.ci.report.spending import total
from scoregate.core.case import Status
from scoregate.core.columns import Columns
from scoregate.core.compare import Comparison
from scoregate.core.flips import passing
from scoregate.core.pairs import Pairs
from scoregate.core.record import SuiteResult
from scoregate.core.signflip import sign_flip
from scoregate.core.stats import examine

_ALPHA = 0.05
# Of fewer flips even the most uneven split happens by chance in more than 5 of 100.
_FEW_FLIPS = 5


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of trials over all suites; `cases` counts a case once, however often it was repeated.

    `pass_rate` is of the trials that met or missed a threshold; `pass_rate_change` is over the `paired` cases
    that did so in both runs, by the same evaluators, with its 95 % interval and two-sided p. `flips_p` is the p of as
    uneven a split of the newly failing and newly passing cases by chance. Costs are US dollars, `cost_change` over the
    suites of both runs.
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
    pass_rate_low: float | None
    pass_rate_high: float | None
    pass_rate_p: float | None
    flips_p: float
    paired: int
    cost: float | None
    cost_change: float | None
    tokens: float | None
    duration_s: float

    @property
    def pass_rate_moved(self) -> bool:
        """Whether the change of the pass rate is more than noise."""
        return self.pass_rate_p is not None and self.pass_rate_p <= _ALPHA

    @property
    def flips_matter(self) -> bool:
        """Whether more cases newly fail than newly pass, beyond chance."""
        return self.newly_failing > self.newly_passing and self.flips_p <= _ALPHA

    @property
    def flips_text(self) -> str:
        """Whether chance explains that more cases newly fail than newly pass, or the reverse; empty without any."""
        flips = self.newly_failing + self.newly_passing
        if not flips:
            return ""
        if self.flips_p <= _ALPHA:
            return "more than chance explains"
        return "too few to tell from chance" if flips < _FEW_FLIPS else "chance alone explains it"


def totals(comparison: Comparison) -> Totals:
    """Everything counted once."""
    suites = [suite.columns for suite in comparison.run.suites]
    passed, failed = _count(suites, Status.PASSED), _count(suites, Status.FAILED)
    changes = _changes(comparison)
    found = examine(Pairs(len(changes), tuple((change, 1) for change in changes)), scale=1.0) if changes else None
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
        pass_rate_change=found.delta if found else None,
        pass_rate_low=found.low if found else None,
        pass_rate_high=found.high if found else None,
        pass_rate_p=found.p if found else None,
        flips_p=_flips_p(comparison),
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


def _flips_p(comparison: Comparison) -> float:
    """McNemar's mid-p."""
    failing, passing_now = len(comparison.newly_failing), len(comparison.newly_passing)
    return sign_flip([-1.0] * failing + [1.0] * passing_now) or 0.0


def _cost_change(comparison: Comparison) -> float | None:
    changes = [
        now - before
        for new, old in paired_suites(comparison)
        if (now := new.cost) is not None and (before := old.cost) is not None
    ]
    return sum(changes) if changes else None
