"""The findings of rules, and the context that rules get."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, TypeAlias

from scoregate.kernel.compare.agreement import Calibrations
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import Measure, Row
from scoregate.kernel.compare.evaluator_changes import EvaluatorChange
from scoregate.kernel.gate.families import Families
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.declaration import Limit, Rule
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import Criteria, Limits, Policy
from scoregate.kernel.types.runs.run import SuiteResult


@record
class Finding:
    """The result of one rule.

    Attributes:
        declaration: its rule.
        conclusion: whether the rule passed.
        value: the measured value, as text.
        limit: the required value, as text.
        origin: where the limit is set; `always` for a rule without a setting.
        suite: the label of the suite; None for a rule about the run.
        evaluator: the id of the evaluator.
        bound: the limit in the unit of the value; None if it is not a number.
        uncertain: whether the distance to the limit is within noise.
        part: the part of the suite, such as `language=fr`; None for a rule about whole suites.
        applied: whether the limit could be applied; otherwise `value` is the reason.
    """

    declaration: Rule
    conclusion: Conclusion
    value: str
    limit: str
    origin: str = "default"
    suite: str | None = None
    evaluator: str | None = None
    bound: float | None = None
    uncertain: bool = False
    part: str | None = None
    applied: bool = True

    @property
    def rule(self) -> str:
        """The name of the rule."""
        return self.declaration.name

    @property
    def title(self) -> str:
        """The title of the rule, such as `No suite ran` or `Pass rate`."""
        failed_title, passed_title = self.declaration.titles
        return passed_title if self.conclusion is Conclusion.PASSED else failed_title

    @property
    def preposition(self) -> str:
        """The preposition between title and suite, as in `Pass rate of demo` and `Too many errors in demo`."""
        failed_title, passed_title = self.declaration.titles
        return "of" if self.conclusion is Conclusion.PASSED or failed_title == passed_title else "in"

    @property
    def is_drop(self) -> bool:
        """Whether its rule fails for a row that is worse than in the baseline."""
        return self.declaration.drop_from == "base"

    @property
    def has_limit(self) -> bool:
        """Whether reports show the limit; the title of a rule without a setting is enough."""
        return self.origin != "always"


FindIdle: TypeAlias = Callable[[Comparison, Limits, Iterable[SuiteResult]], Iterator[Finding]]


@record
class RatioTest:
    """A limit on the ratio of a suite's cost, tokens or latency, and the test of the ratio.

    Attributes:
        measure: the quantity.
        finding: what is known without the test: passed, or the reason why there is no test.
        value: the natural logarithm of the ratio; 0 without a test.
        pairs: the number of cases (or clusters) of the test; 0 without one.
        is_beyond: whether the ratio exceeds the limit.
        has_all_risen: whether every case rose.
        p: the one-sided p of a ratio as large or larger if nothing changed; None without a test.
        q: twice the corrected p, at most 1; None without a test.
    """

    measure: Measure
    finding: Finding
    value: float = 0.0
    pairs: int = 0
    is_beyond: bool = False
    has_all_risen: bool = False
    p: float | None = None
    q: float | None = None


@record
class RunContext:
    """The context of rules about the run.

    Attributes:
        comparison: the run and its baseline.
        policy: the limits.
        policy_problem: why the baseline's policy, which should apply, is not available; empty if it is.
        evaluator_changes: the differences to the baseline's evaluators.
        suites: the contexts of its suites.
        families: the correction of all p-values that gates depend on.
        declared: all limits that can be set.
        find_idle: find what is wrong with limits that apply to nothing.
    """

    comparison: Comparison
    policy: Policy
    policy_problem: str = ""
    evaluator_changes: tuple[EvaluatorChange, ...] = ()
    suites: tuple[SuiteContext, ...] = ()
    families: Families = field(default_factory=Families)
    declared: tuple[Limit[Any], ...] = ()
    find_idle: tuple[FindIdle, ...] = ()

    @property
    def relative_gates(self) -> tuple[str, ...]:
        """The names of the limits that are set for any suite and need a baseline."""
        relative = {each.name: each for each in self.declared if each.is_relative}
        parts = self.policy.all_limits
        names = (name for part in parts for name, _ in part.items() if name in relative and relative[name].is_set(part))
        return tuple(dict.fromkeys(names))


@record
class SuiteContext:
    """The context of rules about one suite.

    Attributes:
        index: the index of the suite in the run.
        suite: the suite.
        limits: the limits of the suite.
        comparison: the run and its baseline.
        rows: the rows of the suite's scores.
        criteria: the criteria of the suite.
        calibrations: the agreement of judges with people.
        uncalibrated: why the scores of an evaluator don't count, by evaluator.
        errored: the rows of the suite that met an error.
        ratios: the limits on ratios with their tests.
        families: the correction of all p-values that gates depend on.
    """

    index: int
    suite: SuiteResult
    limits: Limits
    comparison: Comparison
    rows: tuple[Row, ...] = ()
    criteria: Criteria = field(default_factory=Criteria)
    calibrations: Calibrations = field(default_factory=dict)
    uncalibrated: Mapping[str, str] = field(default_factory=dict)
    errored: Collection[int] = ()
    ratios: tuple[RatioTest, ...] = ()
    families: Families = field(default_factory=Families)

    @property
    def base_suite(self) -> SuiteResult | None:
        """The suite in the baseline; None if there is none."""
        base, pairs = self.comparison.base, dict(self.comparison.pairs)
        return base.suites[pairs[self.index]] if base is not None and self.index in pairs else None
