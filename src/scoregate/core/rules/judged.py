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
