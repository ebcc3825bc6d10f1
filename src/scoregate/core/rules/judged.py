"""What a rule looks at."""

from __future__ import annotations

from dataclasses import dataclass, field

from scoregate.core.compare import Comparison
from scoregate.core.criteria import Criteria
from scoregate.core.policy import Limits, Policy
from scoregate.core.record import SuiteResult
from scoregate.core.rows import Row


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """The whole run and what is demanded of it."""

    comparison: Comparison
    policy: Policy


@dataclass(frozen=True, slots=True)
class JudgedSuite:
    """One suite, its rows, and what is demanded of it."""

    index: int
    suite: SuiteResult
    limits: Limits
    comparison: Comparison
    rows: tuple[Row, ...] = ()
    quantities: tuple[Row, ...] = ()
    criteria: Criteria = field(default_factory=Criteria)

    @property
    def most_lost(self) -> float:
        """The share of scores that may turn to None."""
        limit = self.limits.max_lost_scores
        return self.criteria.max_lost if limit is None else limit
