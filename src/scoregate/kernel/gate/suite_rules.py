"""Rules about one suite without its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from statistics import fmean

from scoregate.kernel.compare.agreement import describe_reviews, digest_fingerprint, is_judge
from scoregate.kernel.compare.statistics.intervals import measure_spread, wilson_interval
from scoregate.kernel.gate.finding import Finding, SuiteContext
from scoregate.kernel.gate.run_rules import explains_gaps, find_script_failures
from scoregate.kernel.types.amounts import Conclusion, exceeds, reaches
from scoregate.kernel.types.declarations.declaration import Rule
from scoregate.kernel.types.declarations.kernel import (
    ASSERT_TEST,
    CASES_RAN,
    CASES_WERE_EVALUATED,
    ERROR_RATE,
    EVALUATIONS_PENDING,
    JUDGE_AGREEMENT,
    MEAN_SCORE,
    PASS_RATE,
    SUITE_FINISHED,
    SUITE_IS_VALID,
)
from scoregate.kernel.types.runs.case_means import count_passes, list_case_means
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.policy import Severity
from scoregate.kernel.types.runs.run import SuiteResult

# With fewer cases every rate is within noise, so findings are not marked as uncertain.
_FEW = 10


def check_complete(context: SuiteContext) -> Iterator[Finding]:
    """The suite finished, ran cases and evaluated them, and has no error of its own."""
    suite = context.suite
    for error in suite.errors:
        # The title of the finding names the suite.
        text = error.message.removeprefix(f"suite {suite.id!r}: ")
        kind = "" if error.type == "InvalidSuite" else f"{error.type}: "
        yield _unmeasurable(suite, SUITE_IS_VALID, f"{kind}{text}{_place(suite)}", "no error")
    if suite.script in find_script_failures(context.comparison.run):
        return  # reported once, by the script
    if not suite.complete and explains_gaps(context.comparison.run):
        return  # reported once, by the run
    if not suite.complete:
        finished = len(suite.columns) - suite.unfinished
        progress = f"{_count_cases(finished)} finished, then no more"
        if suite.planned is not None:
            progress = f"{finished:,} of {suite.planned:,} planned cases finished"
        yield _unmeasurable(suite, SUITE_FINISHED, progress, "a finished suite")
    if suite.errors and not suite.evaluations:
        return  # an error is the reason, and no setting relaxes the rule that reports it
    if not len(suite.columns):
        value = "every case of the suite is quarantined" if _has_quarantine(context) else f"0 cases{_place(suite)}"
        yield _unmeasurable(suite, CASES_RAN, value, "at least 1 case")
    elif not suite.evaluations:
        rule = EVALUATIONS_PENDING if suite.pending else CASES_WERE_EVALUATED
        yield _unmeasurable(suite, rule, _describe_no_evaluations(context), "at least 1 score or label")


def _reports_no_evaluations(context: SuiteContext) -> bool:
    """Whether the run is unmeasurable because the suite has no evaluations, whatever its error rate is."""
    is_unscored = not (context.suite.evaluations or context.suite.pending)
    return is_unscored and CASES_WERE_EVALUATED.severity_in(context.limits) is Severity.FAIL


def _has_quarantine(context: SuiteContext) -> bool:
    """Whether cases of the suite ran in quarantine."""
    return any(case.suite == context.suite.label and case.statuses for case in context.comparison.quarantined)


def _place(suite: SuiteResult) -> str:
    return f" ({suite.origin.file}:{suite.origin.line})" if suite.origin else ""


# Formats of imports whose tests have a verdict unless they are skipped.
_TEST_REPORTS = ("ctrf", "junit", "vitest")


def _describe_no_evaluations(context: SuiteContext) -> str:
    suite = context.suite
    if suite.pending:
        return f"all {suite.pending:,} evaluations wait for people"
    if suite.columns.unscaled:
        return "0 evaluations: scores are outside [0, 1], and no scale is set in [evaluators]"
    if len(context.errored) == len(suite.columns):
        return "0 evaluations: every case has an error"
    if any(info.battles for info in suite.evaluators.values()):
        return "0 evaluations: a battle needs the output of a run before it"
    if suite.sdk in _TEST_REPORTS or not suite.evaluators:  # evaluators of other SDKs are known by their first result
        is_skipped = suite.sdk in _TEST_REPORTS
        why = "all tests were skipped" if is_skipped else f"the suite has no scorers{_place(suite)}"
        return f"0 evaluations: {why}"
    return "0 evaluations: every scorer returned None" if suite.columns.unscored else "0 evaluations"


def _unmeasurable(suite: SuiteResult, rule: Rule, value: str, limit: str) -> Finding:
    return Finding(rule, Conclusion.UNMEASURABLE, value, limit, "always", suite.label)


def _count_cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def check_error_rate(context: SuiteContext) -> Iterator[Finding]:
    """The share of cases with errors is within its limit."""
    columns, limit = context.suite.columns, context.limits.max_error_rate
    if limit is None or not len(columns):
        return
    bad, run = context.errored, context.comparison.run
    if len(bad) == len(columns) and _reports_no_evaluations(context):
        return  # reported once, as nothing was evaluated
    if explains_gaps(run, context.suite.script) and 0 < len(bad) == context.suite.unfinished:
        return  # reported once, by the script or the run
    rate = len(bad) / len(columns)
    yield Finding(
        ERROR_RATE,
        Conclusion.UNMEASURABLE if exceeds(rate, limit) else Conclusion.PASSED,
        f"{len(bad):,} of {columns.count_noun(len(columns))} ({format_percent(rate)})",
        f"≤ {_format_limit(limit)}",
        context.limits.find_origin("max_error_rate"),
        context.suite.label,
        bound=limit,
    )


def check_pass_rate(context: SuiteContext) -> Iterator[Finding]:
    """Enough cases with a threshold meet it: a case with several trials counts once, with the share that passes.

    With a confidence, the rate must be significantly below the limit.
    """
    columns, limit, confidence = (
        context.suite.columns,
        context.limits.min_pass_rate,
        context.limits.pass_rate_confidence,
    )
    counted = count_passes([columns])
    rate, cases = counted.rate, counted.case_count
    if limit is None or rate is None:
        return
    low, high = wilson_interval(rate * cases, cases)
    is_uncertain = 0 < limit < 1 and cases >= _FEW and low <= limit <= high
    # two-sided at 1 − 2·(1 − confidence) is one-sided at the confidence
    bound = rate if confidence is None else wilson_interval(rate * cases, cases, 2 * confidence - 1)[1]
    value = f"{counted.passed:,} of {columns.count_noun(counted.judged)} ({format_percent(rate)}{counted.weights})"
    errored = columns.count(Status.ERRORED)
    value += f", {errored:,} more met an error" if errored else ""
    noise = f", ±{(high - low) / 2:.1%} at {_count_cases(cases)}" if is_uncertain else ""
    yield Finding(
        PASS_RATE,
        Conclusion.PASSED if reaches(max(rate, bound), limit) else Conclusion.FAILED,
        value + noise + _describe_shifts(context),
        f"≥ {_format_limit(limit)}" + ("" if confidence is None else f" with {format_percent(confidence)} confidence"),
        context.limits.find_origin("min_pass_rate"),
        context.suite.label,
        bound=limit,
        uncertain=is_uncertain,
    )


def _describe_shifts(context: SuiteContext, evaluator: str = "") -> str:
    """What moved the scores besides the change: limits of a run alone are not adjusted for it."""
    shifts: dict[str, list[str]] = {}
    for row in context.comparison.rows_of(context.suite.label):
        known = row.adjustment if evaluator in ("", row.evaluator) else None
        if known is not None and known.found_shift is not None:
            shifts.setdefault(known.cause, []).append(f"{known.found_shift:+.3f}".replace("-", "−"))
    return "".join(f", with a {cause} of {', '.join(values[:3])} in it" for cause, values in shifts.items())


def format_percent(rate: float) -> str:
    """A rate in [0, 1] as `91.5%`; only exact rates are shown as 0.0% and 100.0%."""
    return f"{rate if rate in (0, 1) else min(max(rate, 0.001), 0.999):.1%}"


def _format_limit(limit: float) -> str:
    return f"{format_digits(100 * limit, 1)}%"


def format_digits(limit: float, least: int) -> str:
    """A limit with all its decimals, from `least` to six."""
    return max(f"{limit:.{least}f}", f"{limit:.6f}".rstrip("0"), key=len)


def check_mean_scores(context: SuiteContext) -> Iterator[Finding]:
    """The mean score of each evaluator reaches its limit."""
    for name in context.suite.evaluators:
        glob, limit = match_limit(context.limits.min_score, name)
        if limit is None or name in context.uncalibrated:
            continue
        conclusion, value, is_uncertain = Conclusion.UNMEASURABLE, "no score", False
        if name in context.suite.columns.unscaled:
            value = "scores outside [0, 1], and no scale is set in [evaluators]"
        mean = context.suite.mean(name)
        if mean is not None:
            is_reached = reaches(mean, limit)
            conclusion = Conclusion.PASSED if is_reached else Conclusion.FAILED
            # enough digits that the rounded mean is on the same side of the limit
            texts = [f"{mean:.{digits}f}" for digits in (3, 4, 6)]
            value = next((text for text in texts if (float(text) >= limit) == is_reached), texts[-1])
            noise, cases = _mean_noise(context.suite, name)
            is_uncertain = 0 < limit < 1 and cases >= _FEW and abs(mean - limit) <= noise
            value += f", ±{noise:.3f} at {_count_cases(cases)}" if is_uncertain else ""
            value += _describe_shifts(context, name)
        yield Finding(
            MEAN_SCORE,
            conclusion,
            value,
            f"≥ {format_digits(limit, 2)}",
            context.limits.find_origin(f"min_score.{glob}", "min_score"),
            context.suite.label,
            name,
            bound=limit,
            uncertain=is_uncertain,
        )


def _mean_noise(suite: SuiteResult, evaluator: str) -> tuple[float, int]:
    """Half the width of the mean's 95 % interval, infinite for one case, and the number of cases."""
    means = list_case_means(suite.columns, evaluator)
    if not means:
        return 0.0, 0
    mean_of_cases = fmean(means)
    low, high = measure_spread([(mean - mean_of_cases, 1) for mean in means]).interval()
    return (high - low) / 2, len(means)


def match_limit(table: Mapping[str, float], evaluator: str) -> tuple[str, float | None]:
    """The last glob that an evaluator matches, and its limit; an empty glob and None without a match."""
    matching = [(glob, limit) for glob, limit in table.items() if fnmatchcase(evaluator, glob)]
    return matching[-1] if matching else ("", None)


def check_assertions(context: SuiteContext) -> Iterator[Finding]:
    """`assert_test` of the suite did not raise. If no case has a result, it is unmeasurable."""
    suite, columns = context.suite, context.suite.columns
    if not suite.assertion_failed:
        return
    errored = columns.count(Status.ERRORED)
    quarantined = (case for case in context.comparison.quarantined if case.suite == suite.label and case.fails)
    if not errored and not columns.count(Status.FAILED) and any(quarantined):
        return  # only cases in quarantine fail
    has_results = columns.labels or any(suite.mean(name) is not None for name in suite.evaluators)
    is_waiting = suite.pending and errored < len(columns)
    if len(columns) and not (has_results or is_waiting):
        conclusion = Conclusion.UNMEASURABLE
        reason = ": all met errors" if errored == len(columns) else ""
        value = f"{_count_cases(len(columns))}, none of them judged{reason}"
    else:
        conclusion = Conclusion.FAILED
        value = f"{_count_cases(columns.count(Status.FAILED))} failed{f', {errored:,} met errors' if errored else ''}"
    yield Finding(ASSERT_TEST, conclusion, value, "every case passes", "the suite", suite.label)


def check_judge_agreement(context: SuiteContext) -> Iterator[Finding]:
    """Every judge agrees with people often enough that its scores may fail a run."""
    least = context.limits.min_judge_agreement
    if least is None:
        return
    origin, limit = context.limits.find_origin("min_judge_agreement"), f"> {least:.1%}"
    for name, info in context.suite.evaluators.items():
        if not is_judge(info):
            continue
        reviews = context.calibrations.get((info.id, digest_fingerprint(info.fingerprint)), ())
        problem = context.uncalibrated.get(name)
        conclusion = Conclusion.FAILED if problem else Conclusion.PASSED
        value = problem or describe_reviews(reviews)
        yield Finding(JUDGE_AGREEMENT, conclusion, value, limit, origin, context.suite.label, name, bound=least)
