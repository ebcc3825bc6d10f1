"""The gate: rules applied to a comparison, in an explicit table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from scoregate.core.agreement import Calibrations, explain_uncalibrated
from scoregate.core.comparison import Comparison
from scoregate.core.evaluator_changes import EvaluatorChange, find_evaluator_changes
from scoregate.core.gate.baseline_rules import (
    check_comparable,
    check_critical_cases,
    check_drops,
    check_lost_scores,
    check_quantities,
    check_regressions,
)
from scoregate.core.gate.finding import Conclusion, Finding, RunContext, SuiteContext
from scoregate.core.gate.run_rules import (
    check_any_suite,
    check_base_suites,
    check_baseline,
    check_evaluators,
    check_expected_suites,
    check_filters,
    check_limits,
    check_policy,
    check_run_complete,
    check_scripts,
    check_scripts_report,
)
from scoregate.core.gate.suite_rules import (
    check_assertions,
    check_complete,
    check_error_rate,
    check_judge_agreement,
    check_mean_scores,
    check_pass_rate,
    check_quantity_limits,
    find_limit,
)
from scoregate.core.policy import Limits, Policy, Severity
from scoregate.core.run import SuiteResult

__all__ = ["RUN_RULES", "SUITE_RULES", "Conclusion", "Finding"]

RUN_RULES: tuple[Callable[[RunContext], Iterator[Finding]], ...] = (
    check_any_suite,
    check_run_complete,
    check_scripts,
    check_scripts_report,
    check_expected_suites,
    check_base_suites,
    check_baseline,
    check_policy,
    check_evaluators,
    check_filters,
    check_limits,
)
SUITE_RULES: tuple[Callable[[SuiteContext], Iterator[Finding]], ...] = (
    check_complete,
    check_error_rate,
    check_pass_rate,
    check_mean_scores,
    check_assertions,
    check_quantity_limits,
    check_drops,
    check_regressions,
    check_comparable,
    check_lost_scores,
    check_quantities,
    check_critical_cases,
    check_judge_agreement,
)


# Not among `policy.DEFAULTS`, or every base that was judged before would seem to have another policy.
_WARNINGS_ONLY = ("judge_agreement",)
EXIT_CODES = {Conclusion.PASSED: 0, Conclusion.FAILED: 1, Conclusion.UNMEASURABLE: 3}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Every finding, those that only warn, and the conclusion drawn from the rest.

    `policy_changes` tells in words how the policy differs from the base's. `not_applied` names relative gates that are
    set although there is no base; `ungated` are the labels of suites in which nothing can fail. `uncalibrated` says by
    suite and evaluator why scores of a judge did not count. `evaluator_changes` are how evaluators and their
    thresholds differ from the base's.
    """

    findings: tuple[Finding, ...]
    warnings: tuple[Finding, ...] = ()
    policy_changes: tuple[str, ...] = ()
    not_applied: tuple[str, ...] = ()
    ungated: tuple[str, ...] = ()
    uncalibrated: Mapping[tuple[str, str], str] = field(default_factory=dict)
    evaluator_changes: tuple[EvaluatorChange, ...] = ()

    @property
    def conclusion(self) -> Conclusion:
        """Failed if any gate failed; else unmeasurable if anything could not be measured; else passed."""
        found = {finding.conclusion for finding in self.findings}
        if Conclusion.FAILED in found:
            return Conclusion.FAILED
        return Conclusion.UNMEASURABLE if Conclusion.UNMEASURABLE in found else Conclusion.PASSED

    @property
    def exit_code(self) -> int:
        """0 passed, 1 failed, 3 unmeasurable."""
        return EXIT_CODES[self.conclusion]

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that do not hold."""
        return tuple(finding for finding in self.findings if finding.conclusion is not Conclusion.PASSED)


def evaluate_gates(
    comparison: Comparison,
    policy: Policy,
    *,
    policy_changes: Sequence[str] = (),
    policy_problem: str = "",
    calibrations: Calibrations = MappingProxyType({}),
) -> Verdict:
    """Apply every rule.

    Args:
        comparison: the run against its base. policy: what is demanded.
        policy_changes: how the policy differs from the base's, to be told.
        policy_problem: why the base's policy, which was to judge, could not be had.
        calibrations: how well judges agree with people; asked only where the policy asks for it.
    """
    findings, warnings = list[Finding](), list[Finding]()
    suites = _suite_contexts(comparison, policy, calibrations)
    run = RunContext(comparison, policy, policy_problem, find_evaluator_changes(comparison))
    for finding, severity in _apply_rules(run, suites):
        if finding.conclusion is Conclusion.PASSED or severity is Severity.FAIL:
            findings.append(finding)
        elif severity is Severity.WARN:
            warnings.append(finding)
    uncalibrated = {(each.suite.label, name): why for each in suites for name, why in each.uncalibrated.items()}
    return Verdict(
        tuple(findings),
        tuple(warnings),
        tuple(policy_changes),
        not_applied=policy.relative_gates if comparison.base is None else (),
        ungated=tuple(
            suite.label for suite in comparison.run.suites if len(suite.columns) and not _can_fail(suite, policy)
        ),
        uncalibrated=uncalibrated,
        evaluator_changes=run.evaluator_changes,
    )


def _can_fail(suite: SuiteResult, policy: Policy) -> bool:
    """Whether any score of the suite has a threshold that counts, or any limit but that of errors is set for it."""
    limits = policy.of(suite)
    judged = any(suite.columns.judged.values()) and bool(limits.min_pass_rate)
    absolute = (limits.max_cost, limits.max_tokens, limits.max_p95_ms)
    scored = any(find_limit(limits.min_score, name)[1] is not None for name in suite.evaluators)
    return judged or scored or any(limit is not None for limit in absolute) or bool(limits.relative_gates)


def _apply_rules(run: RunContext, suites: Iterable[SuiteContext]) -> Iterator[tuple[Finding, Severity]]:
    for run_rule in RUN_RULES:
        yield from ((finding, _severity(finding, run.policy.default)) for finding in run_rule(run))
    for suite in suites:
        for rule in SUITE_RULES:
            yield from ((finding, _severity(finding, suite.limits)) for finding in rule(suite))


def _severity(finding: Finding, limits: Limits) -> Severity:
    rule = finding.rule.replace(" ", "_")
    return limits.severity.get(rule, Severity.WARN if rule in _WARNINGS_ONLY else Severity.FAIL)


def _suite_contexts(comparison: Comparison, policy: Policy, calibrations: Calibrations) -> list[SuiteContext]:
    return [
        SuiteContext(
            at,
            suite,
            policy.of(suite),
            comparison,
            comparison.rows_of(suite.label),
            tuple(row for row in comparison.quantities if row.suite == suite.label),
            criteria=policy.criteria_of(suite),
            calibrations=calibrations,
            uncalibrated=_uncalibrated_judges(suite, policy, calibrations),
        )
        for at, suite in enumerate(comparison.run.suites)
    ]


def _uncalibrated_judges(suite: SuiteResult, policy: Policy, calibrations: Calibrations) -> dict[str, str]:
    """By evaluator, why its scores may not fail the suite."""
    least = policy.of(suite).min_judge_agreement
    if least is None:
        return {}
    told = {
        name: explain_uncalibrated(info, calibrations, least=least, fewest=policy.min_overrides)
        for name, info in suite.evaluators.items()
    }
    return {name: why for name, why in told.items() if why}
