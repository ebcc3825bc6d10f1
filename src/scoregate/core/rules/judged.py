"""What a rule looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scoregate.core.calibration import Calibrations
from scoregate.core.compare import Comparison
from scoregate.core.criteria import Criteria
from scoregate.core.evaluator_changes import EvaluatorChange
from scoregate.core.policy import Limits, Policy
from scoregate.core.record import SuiteResult
from scoregate.core.rows import Row


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """The whole run and what is demanded of it.

    `policy_problem` says why the base does not demand it, as it was to; `evaluator_changes` are how evaluators differ
    from the base's.
    """

    comparison: Comparison
    policy: Policy
    policy_problem: str = ""
    evaluator_changes: tuple[EvaluatorChange, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedSuite:
    """One suite, its rows, and what is demanded of it.

    `calibrations` is how well judges agree with people; `uncalibrated` says by evaluator why its scores do not count.
    """

    index: int
    suite: SuiteResult
    limits: Limits
    comparison: Comparison
    rows: tuple[Row, ...] = ()
    quantities: tuple[Row, ...] = ()
    criteria: Criteria = field(default_factory=Criteria)
    calibrations: Calibrations = field(default_factory=dict)
    uncalibrated: Mapping[str, str] = field(default_factory=dict)
