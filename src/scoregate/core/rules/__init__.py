"""The gate's rules: each a small function that yields what it found, in two tables."""

from collections.abc import Callable, Iterator

from scoregate.core.rules.finding import Conclusion, Finding
from scoregate.core.rules.judged import JudgedRun, JudgedSuite
from scoregate.core.rules.of_base import comparable, critical_cases, drops, quantities, regressions, scores_remain
from scoregate.core.rules.of_judges import judge_agreement
from scoregate.core.rules.of_limits import limits_apply
from scoregate.core.rules.of_run import (
    base_present,
    evaluators_unchanged,
    filters_match,
    policy_available,
    scripts_ended_well,
    scripts_speak,
    something_ran,
    suites_remain,
    suites_report,
    whole,
)
from scoregate.core.rules.of_suite import (
    assertions_held,
    completed,
    error_rate,
    min_score,
    pass_rate,
    quantity_limits,
)

__all__ = ["RUN_RULES", "SUITE_RULES", "Conclusion", "Finding"]

RUN_RULES: tuple[Callable[[JudgedRun], Iterator[Finding]], ...] = (
    something_ran,
    whole,
    scripts_ended_well,
    scripts_speak,
    suites_report,
    suites_remain,
    base_present,
    policy_available,
    evaluators_unchanged,
    filters_match,
    limits_apply,
)
SUITE_RULES: tuple[Callable[[JudgedSuite], Iterator[Finding]], ...] = (
    completed,
    error_rate,
    pass_rate,
    min_score,
    assertions_held,
    quantity_limits,
    drops,
    regressions,
    comparable,
    scores_remain,
    quantities,
    critical_cases,
    judge_agreement,
)
