"""What a rule found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from scoregate.core.agreement import Calibrations
from scoregate.core.comparison import Comparison
from scoregate.core.comparison_rows import Row
from scoregate.core.evaluator_changes import EvaluatorChange
from scoregate.core.policy import Criteria, Limits, Policy
from scoregate.core.run import SuiteResult


class Conclusion(StrEnum):
    """What the whole comes to. A failed gate is certain, so it wins over what could not be measured."""

    PASSED = "passed"
    FAILED = "failed"
    UNMEASURABLE = "unmeasurable"


# By rule: what is wrong where it does not hold, and what it is called where it does.
_TITLES = {
    "something ran": ("No suite ran", "Suites ran"),
    "run complete": ("The run is incomplete", "Complete run"),
    "scripts end well": ("A script failed", "Scripts"),
    "scripts run suites": ("A script ran no suite", "Scripts"),
    "suites remain": ("A suite of the base is missing", "Suites of the base"),
    "base present": ("No base to compare with", "Base"),
    "base readable": ("The base can't be read", "Base"),
    "policy available": ("The base's policy isn't available", "Policy"),
    "evaluators unchanged": ("An evaluator isn't the base's", "Evaluators"),
    "filters match": ("A filter matches no suite", "Filters"),
    "limits apply": ("A limit matches no suite or evaluator", "Limits"),
    "suite is valid": ("The suite reported an error", "Suite"),
    "suite finished": ("The suite didn't finish", "Suite"),
    "cases ran": ("No case ran", "Cases"),
    "cases were evaluated": ("Nothing was evaluated", "Evaluations"),
    "evaluations pending": ("Evaluations wait for people", "Evaluations"),
    "suites report": ("A suite didn't report", "Suites"),
    "scores remain": ("Scores are missing", "Scores"),
    "comparable": ("Can't be compared with the base", "Comparable"),
    "critical case": ("A critical case fails", "Critical case"),
    "error rate": ("Too many errors", "Error rate"),
    "p95 latency": ("p95 latency", "p95 latency"),
    "p95 latency ratio": ("p95 latency ratio", "p95 latency ratio"),
    "judge agreement": ("Judge not calibrated", "Judge agreement"),
    "assert_test": ("assert_test", "assert_test"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule applied: whether it holds, the value and limit in words, and where the limit was set.

    `bound` is the limit as a number, in the unit of what is measured; None where it is none. `uncertain`: it holds, but
    by less than noise, or although the estimate is beyond the limit.
    """

    rule: str
    conclusion: Conclusion
    value: str
    limit: str
    origin: str = "default"
    suite: str | None = None
    evaluator: str | None = None
    bound: float | None = None
    uncertain: bool = False

    @property
    def title(self) -> str:
        """The rule in plain words: `No suite ran`, `Pass rate`."""
        wrong, held = _rule_titles(self.rule)
        return held if self.conclusion is Conclusion.PASSED else wrong

    @property
    def preposition(self) -> str:
        """What joins title and suite: `Pass rate of demo`, `Too many errors in demo`."""
        wrong, held = _rule_titles(self.rule)
        return "of" if self.conclusion is Conclusion.PASSED or wrong == held else "in"

    @property
    def has_limit(self) -> bool:
        """Whether there is a limit to name; what always holds says all in its title."""
        return self.origin != "always"


def _rule_titles(rule: str) -> tuple[str, str]:
    name = rule[:1].upper() + rule[1:]
    return _TITLES.get(rule, (name, name))


@dataclass(frozen=True, slots=True)
class RunContext:
    """The whole run and what is demanded of it.

    `policy_problem` says why the base does not demand it, as it was to; `evaluator_changes` are how evaluators differ
    from the base's.
    """

    comparison: Comparison
    policy: Policy
    policy_problem: str = ""
    evaluator_changes: tuple[EvaluatorChange, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteContext:
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
