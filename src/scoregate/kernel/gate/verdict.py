"""The verdict on a comparison: applies the rules in two explicit tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType

from scoregate.kernel.compare.agreement import Calibrations, explain_uncalibrated
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.evaluator_changes import EvaluatorChange, find_evaluator_changes
from scoregate.kernel.gate.baseline_rules import (
    check_comparable,
    check_drops,
    check_lost_scores,
    check_model,
    check_regressions,
    check_small_rows,
)
from scoregate.kernel.gate.case_rules import check_critical_cases, check_critical_cases_remain, check_new_errors
from scoregate.kernel.gate.check import (
    Check,
    RunCheck,
    SuiteCheck,
    apply_checks,
    explain_critical_cases,
    explain_drops,
    explain_judge_agreement,
    explain_lost_scores,
    explain_pass_rate,
    explain_unapplied_regressions,
    order_checks,
)
from scoregate.kernel.gate.correction import SCORES, correct_gates
from scoregate.kernel.gate.finding import Finding, RunContext, SuiteContext
from scoregate.kernel.gate.quantity_rules import check_quantity_limits, check_quantity_ratios
from scoregate.kernel.gate.run_rules import (
    check_any_suite,
    check_base_suites,
    check_baseline,
    check_evaluators,
    check_expected_suites,
    check_filters,
    check_limits,
    check_model_calls,
    check_policy,
    check_run_complete,
    check_scripts,
    check_scripts_report,
    check_stopped,
)
from scoregate.kernel.gate.suite_rules import (
    check_assertions,
    check_complete,
    check_error_rate,
    check_judge_agreement,
    check_mean_scores,
    check_pass_rate,
    match_limit,
)
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import (
    ASSERT_TEST,
    BASE_PRESENT,
    BASE_READABLE,
    CALLS_ANSWERED,
    CASES_RAN,
    CASES_WERE_EVALUATED,
    COMPARABLE,
    COST,
    COST_RATIO,
    CRITICAL_CASE,
    CRITICAL_CASES_REMAIN,
    DROP,
    ERROR_RATE,
    EVALUATIONS_PENDING,
    EVALUATORS_UNCHANGED,
    FAIL_ON_CRITICAL,
    FAIL_ON_REGRESSION,
    FILTERS_MATCH,
    JUDGE_AGREEMENT,
    LIMITS_APPLY,
    MAX_COST,
    MAX_COST_RATIO,
    MAX_DROP,
    MAX_ERROR_RATE,
    MAX_LOST_SCORES,
    MAX_P95_MS,
    MAX_P95_RATIO,
    MAX_TOKENS,
    MAX_TOKENS_RATIO,
    MEAN_SCORE,
    MIN_JUDGE_AGREEMENT,
    MIN_PASS_RATE,
    MIN_SCORE,
    NEW_ERRORS,
    P95_LATENCY,
    P95_LATENCY_RATIO,
    PASS_RATE,
    PASS_RATE_CONFIDENCE,
    POLICY_AVAILABLE,
    REGRESSION,
    RUN_COMPLETE,
    SAME_MODEL,
    SCORES_REMAIN,
    SCRIPTS_END_WELL,
    SCRIPTS_RUN_SUITES,
    SOMETHING_RAN,
    STOPPED_EARLY,
    SUITE_FINISHED,
    SUITE_IS_VALID,
    SUITES_REMAIN,
    SUITES_REPORT,
    TOKENS,
    TOKENS_RATIO,
)
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.evidence import Use
from scoregate.kernel.types.runs.policy import DEFAULTS, Limits, Policy, Severity, is_limit
from scoregate.kernel.types.runs.run import SuiteResult

RUN_CHECKS: tuple[RunCheck, ...] = (
    Check(check_any_suite, (SOMETHING_RAN,)),
    Check(check_run_complete, (RUN_COMPLETE,)),
    Check(check_stopped, (STOPPED_EARLY,)),
    Check(check_scripts, (SCRIPTS_END_WELL,)),
    Check(check_scripts_report, (SCRIPTS_RUN_SUITES,)),
    Check(check_expected_suites, (SUITES_REPORT,)),
    Check(check_model_calls, (CALLS_ANSWERED,)),
    Check(check_base_suites, (SUITES_REMAIN,)),
    Check(check_baseline, (BASE_PRESENT, BASE_READABLE)),
    Check(check_policy, (POLICY_AVAILABLE,)),
    Check(check_evaluators, (EVALUATORS_UNCHANGED,)),
    Check(check_filters, (FILTERS_MATCH,)),
    Check(check_limits, (LIMITS_APPLY,)),
)
_COMPLETE = (SUITE_IS_VALID, SUITE_FINISHED, CASES_RAN, CASES_WERE_EVALUATED, EVALUATIONS_PENDING)
SUITE_CHECKS: tuple[SuiteCheck, ...] = (
    Check(check_complete, _COMPLETE, in_arms=True),
    Check(check_error_rate, (ERROR_RATE,), limits=(MAX_ERROR_RATE,), in_arms=True),
    Check(check_new_errors, (NEW_ERRORS,)),
    Check(check_pass_rate, (PASS_RATE,), limits=(MIN_PASS_RATE, PASS_RATE_CONFIDENCE), explain=explain_pass_rate),
    Check(check_mean_scores, (MEAN_SCORE,), limits=(MIN_SCORE,)),
    Check(check_assertions, (ASSERT_TEST,)),
    Check(check_quantity_limits, (COST, TOKENS, P95_LATENCY), limits=(MAX_COST, MAX_TOKENS, MAX_P95_MS)),
    Check(check_drops, (DROP,), limits=(MAX_DROP,), explain=explain_drops, watches=SCORES),
    Check(check_regressions, (REGRESSION,), limits=(FAIL_ON_REGRESSION,), explain=explain_unapplied_regressions),
    Check(check_comparable, (COMPARABLE,)),
    Check(check_model, (SAME_MODEL,)),
    Check(check_lost_scores, (SCORES_REMAIN,), limits=(MAX_LOST_SCORES,), explain=explain_lost_scores),
    Check(
        check_quantity_ratios,
        (COST_RATIO, TOKENS_RATIO, P95_LATENCY_RATIO),
        limits=(MAX_COST_RATIO, MAX_TOKENS_RATIO, MAX_P95_RATIO),
    ),
    Check(check_critical_cases, (CRITICAL_CASE,), limits=(FAIL_ON_CRITICAL,), explain=explain_critical_cases),
    Check(check_critical_cases_remain, (CRITICAL_CASES_REMAIN,)),
    Check(check_judge_agreement, (JUDGE_AGREEMENT,), limits=(MIN_JUDGE_AGREEMENT,), explain=explain_judge_agreement),
)

EXIT_CODES = {Conclusion.PASSED: 0, Conclusion.FAILED: 1, Conclusion.UNMEASURABLE: 3}


@record
class Verdict:
    """The findings of all rules, and the conclusion.

    Attributes:
        findings: the findings that decide the conclusion.
        warnings: the findings that only warn.
        policy_changes: the differences to the baseline's policy, as text.
        not_applied: the relative gates that are set, if there is no baseline.
        left_out: the findings of limits that could not be applied to a suite, each with the reason as its value.
        ungated: the labels of suites that finished and in which nothing can fail.
        uncalibrated: why scores of a judge didn't count, by suite and evaluator.
        evaluator_changes: the differences to the baseline's evaluators and thresholds.
    """

    findings: tuple[Finding, ...]
    warnings: tuple[Finding, ...] = ()
    policy_changes: tuple[str, ...] = ()
    not_applied: tuple[str, ...] = ()
    left_out: tuple[Finding, ...] = ()
    ungated: tuple[str, ...] = ()
    uncalibrated: Mapping[tuple[str, str], str] = field(default_factory=dict)
    evaluator_changes: tuple[EvaluatorChange, ...] = ()

    @property
    def conclusion(self) -> Conclusion:
        """Failed if any finding failed; else unmeasurable if any is; else passed."""
        conclusions = {finding.conclusion for finding in self.findings}
        if Conclusion.FAILED in conclusions:
            return Conclusion.FAILED
        return Conclusion.UNMEASURABLE if Conclusion.UNMEASURABLE in conclusions else Conclusion.PASSED

    @property
    def exit_code(self) -> int:
        """0 passed, 1 failed, 3 unmeasurable."""
        return EXIT_CODES[self.conclusion]

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that are not passed."""
        return tuple(finding for finding in self.findings if finding.conclusion is not Conclusion.PASSED)


def evaluate_gates(
    comparison: Comparison,
    policy: Policy,
    *,
    policy_changes: Sequence[str] = (),
    policy_problem: str = "",
    calibrations: Calibrations = MappingProxyType({}),
    checks: Sequence[SuiteCheck] = (),
) -> Verdict:
    """Apply every rule; see `judge_comparison`."""
    return judge_comparison(
        comparison,
        policy,
        policy_changes=policy_changes,
        policy_problem=policy_problem,
        calibrations=calibrations,
        checks=checks,
    )[1]


def judge_comparison(
    comparison: Comparison,
    policy: Policy,
    *,
    policy_changes: Sequence[str] = (),
    policy_problem: str = "",
    calibrations: Calibrations = MappingProxyType({}),
    checks: Sequence[SuiteCheck] = (),
) -> tuple[Comparison, Verdict]:
    """Correct what relative gates watch for the number of tests, and apply every rule.

    Args:
        comparison: the run and its baseline.
        policy: the limits.
        policy_changes: the differences to the baseline's policy, as text.
        policy_problem: why the baseline's policy, which should apply, is not available; empty if it is.
        calibrations: the agreement of judges with people; used only if the policy depends on it.
        checks: the checks of features.

    Returns:
        The comparison with the labels that the gates' p-values give, and the verdict.
    """
    suite_checks = tuple(order_checks(SUITE_CHECKS, checks))
    contexts = [
        _suite_context(index, suite, comparison, policy, calibrations)
        for index, suite in enumerate(comparison.run.suites)
    ]
    tables = [check.watches for check in suite_checks if check.watches is not None]
    corrected = correct_gates(comparison, contexts, policy.criteria.alpha, tables)
    comparison, suites = corrected.comparison, corrected.suites
    changed = find_evaluator_changes(comparison)
    declared = tuple(limit for check in suite_checks for limit in check.limits)
    idle = tuple(check.find_idle for check in suite_checks if check.find_idle is not None)
    run = RunContext(comparison, policy, policy_problem, changed, suites, corrected.families, declared, idle)
    findings, warnings, left_out = list[Finding](), list[Finding](), list[Finding]()
    for finding, limits in _list_findings(run, suite_checks):
        severity = finding.declaration.severity_in(limits)
        if not finding.applied:
            left_out += [finding] if severity is not Severity.OFF else []
        elif finding.conclusion is Conclusion.PASSED or severity is Severity.FAIL:
            findings.append(finding)
        elif severity is Severity.WARN:
            warnings.append(finding)
    uncalibrated = {(each.suite.label, name): why for each in suites for name, why in each.uncalibrated.items()}
    return comparison, Verdict(
        tuple(findings),
        tuple(warnings),
        tuple(policy_changes),
        not_applied=run.relative_gates if comparison.base is None else (),
        left_out=tuple(left_out),
        ungated=tuple(_find_ungated(run)),
        uncalibrated=uncalibrated,
        evaluator_changes=changed,
    )


def _list_findings(run: RunContext, checks: Sequence[SuiteCheck]) -> Iterator[tuple[Finding, Limits]]:
    """All findings, each with the limits that set its severity."""
    run_findings = [finding for check in RUN_CHECKS for finding in check.find(run)]
    yield from ((finding, run.policy.default) for finding in run_findings)
    # Only rows count whose own severity is `fail`, so that of all suites doesn't matter.
    yield from ((finding, DEFAULTS) for finding in check_small_rows(run))
    known = {limit.name for check in checks for limit in check.limits}
    for suite in run.suites:
        yield from ((finding, suite.limits) for finding in apply_checks(suite, checks, run_findings))
        limited = {name for name, value in suite.limits.more.items() if is_limit(value)}
        for name in sorted(limited - known):
            yield _find_unknown_limit(name, suite), DEFAULTS


def _find_unknown_limit(name: str, suite: SuiteContext) -> Finding:
    value, label = f"{name} is set, but no check applies it", suite.suite.label
    origin = suite.limits.find_origin(name)
    return Finding(LIMITS_APPLY, Conclusion.UNMEASURABLE, value, "a result or a reason", origin, label)


def _find_ungated(context: RunContext) -> Iterator[str]:
    for suite in context.comparison.run.suites:
        if suite.complete and suite.evaluations and suite.evidence.counts(Use.LIMITS) and not _can_fail(suite, context):
            yield suite.label


def _can_fail(suite: SuiteResult, context: RunContext) -> bool:
    """Whether a threshold of scores counts, or any limit besides the error rate is set."""
    limits = context.policy.limits_of(suite)
    has_thresholds = any(suite.columns.judged.values()) and bool(limits.min_pass_rate)
    has_min_score = any(match_limit(limits.min_score, name)[1] is not None for name in suite.evaluators)
    declared = (each for each in context.declared if each.is_relative or each.is_enough)
    return has_thresholds or has_min_score or any(each.is_set(limits) for each in declared)


def _suite_context(
    index: int, suite: SuiteResult, comparison: Comparison, policy: Policy, calibrations: Calibrations
) -> SuiteContext:
    limits, uncalibrated = policy.limits_of(suite), {}
    if (least := limits.min_judge_agreement) is not None:
        for name, info in suite.evaluators.items():
            if why := explain_uncalibrated(info, calibrations, least=least, fewest=policy.min_overrides):
                uncalibrated[name] = why
    return SuiteContext(
        index,
        suite,
        limits,
        comparison,
        comparison.rows_of(suite.label),
        criteria=policy.criteria_of(suite),
        calibrations=calibrations,
        uncalibrated=uncalibrated,
        errored=suite.columns.errored_rows(),
    )
