"""Rules about one suite by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from statistics import fmean

from scoregate.core.agreement import describe_reviews, digest_fingerprint, is_judge
from scoregate.core.cases import Status, percentiles
from scoregate.core.gate.finding import Conclusion, Finding, SuiteContext
from scoregate.core.gate.run_rules import find_script_failures
from scoregate.core.intervals import measure_spread, wilson
from scoregate.core.pairing import score_side
from scoregate.core.run import SuiteResult

_EVALUATED = (Status.PASSED, Status.FAILED)
# Of fewer cases every rate is within its noise, which says nothing.
_FEW = 10


def check_complete(judged: SuiteContext) -> Iterator[Finding]:
    """The suite finished, ran cases, evaluated them, and met no error of its own."""
    suite = judged.suite
    for error in suite.errors:
        yield _unmeasurable(suite, "suite is valid", f"{error.type}: {error.message}", "no error")
    if suite.script in find_script_failures(judged.comparison.run):
        return  # reported once, by the script
    if not suite.complete:
        yield _unmeasurable(suite, "suite finished", _describe_progress(suite), "a finished suite")
    if not len(suite.columns):
        yield _unmeasurable(suite, "cases ran", "0 cases", "at least 1 case")
    elif not suite.evaluations:
        rule = "evaluations pending" if suite.pending else "cases were evaluated"
        yield _unmeasurable(suite, rule, _describe_no_evaluations(suite), "at least 1 score or label")


def _describe_no_evaluations(suite: SuiteResult) -> str:
    """Why a suite has no evaluation."""
    if suite.pending:
        return f"all {suite.pending:,} evaluations wait for people"
    if any(info.battles for info in suite.evaluators.values()):
        return "0 evaluations: a battle needs the output of a run before it"
    return "0 evaluations: every evaluator returned None" if suite.columns.unscored else "0 evaluations"


def _describe_progress(suite: SuiteResult) -> str:
    """How many cases of a suite finished."""
    finished = len(suite.columns) - suite.unfinished
    if suite.planned is None:
        return f"{_count_cases(finished)} finished, then no more"
    return f"{finished:,} of {suite.planned:,} planned cases finished"


def _unmeasurable(suite: SuiteResult, rule: str, value: str, limit: str) -> Finding:
    return Finding(rule, Conclusion.UNMEASURABLE, value, limit, "always", suite.label)


def _count_cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def check_error_rate(judged: SuiteContext) -> Iterator[Finding]:
    """Not more cases err than allowed."""
    columns, limit = judged.suite.columns, judged.limits.max_error_rate
    if limit is None or not len(columns):
        return
    bad = columns.erring()
    rate = len(bad) / len(columns)
    yield Finding(
        "error rate",
        Conclusion.UNMEASURABLE if rate > limit else Conclusion.PASSED,
        f"{len(bad):,} of {len(columns):,} cases ({format_percent(rate)})",
        f"≤ {_format_limit(limit)}",
        judged.limits.where("max_error_rate"),
        judged.suite.label,
        bound=limit,
    )


def check_pass_rate(judged: SuiteContext) -> Iterator[Finding]:
    """Of the cases that have a threshold, enough meet it; with a confidence set, fewer may by chance."""
    columns, limit, confidence = judged.suite.columns, judged.limits.min_pass_rate, judged.limits.pass_rate_confidence
    passed, failed = columns.count(Status.PASSED), columns.count(Status.FAILED)
    if limit is None or not passed + failed:
        return
    rate = passed / (passed + failed)
    cases = len({columns.hashes[row] for row in range(len(columns)) if columns.status(row) in _EVALUATED})
    low, high = wilson(rate * cases, cases)
    near = 0 < limit < 1 and cases >= _FEW and low <= limit <= high
    # two-sided at 1 − 2·(1 − confidence) is one-sided at the confidence
    bound = rate if confidence is None else wilson(rate * cases, cases, 2 * confidence - 1)[1]
    value = f"{passed:,} of {passed + failed:,} cases ({format_percent(rate)})"
    noise = f", ±{(high - low) / 2:.1%} at {_count_cases(cases)}" if near else ""
    yield Finding(
        "pass rate",
        Conclusion.FAILED if rate < limit and bound < limit else Conclusion.PASSED,
        value + noise,
        f"≥ {_format_limit(limit)}" + ("" if confidence is None else f" with {format_percent(confidence)} confidence"),
        judged.limits.where("min_pass_rate"),
        judged.suite.label,
        bound=limit,
        uncertain=near,
    )


def format_percent(rate: float) -> str:
    """A rate in [0, 1] as `91.5%`; all and none are said only of all and of none."""
    return f"{rate if rate in (0, 1) else min(max(rate, 0.001), 0.999):.1%}"


def _format_limit(limit: float) -> str:
    return f"{_digits(100 * limit, 1)}%"


def _digits(limit: float, least: int) -> str:
    """As many decimals as it has, from `least` to six."""
    return max(f"{limit:.{least}f}", f"{limit:.6f}".rstrip("0"), key=len)


def _format_mean(mean: float, limit: float) -> str:
    """As many digits as it takes to stand on its side of the limit."""
    told = [f"{mean:.{digits}f}" for digits in (3, 4, 6)]
    return next((text for text in told if (float(text) >= limit) == (mean >= limit)), told[-1])


def check_mean_scores(judged: SuiteContext) -> Iterator[Finding]:
    """The mean score of an evaluator reaches its limit."""
    for name in judged.suite.evaluators:
        glob, limit = find_limit(judged.limits.min_score, name)
        if limit is None or name in judged.uncalibrated:
            continue
        mean = judged.suite.mean(name)
        reached = Conclusion.PASSED if mean is not None and mean >= limit else Conclusion.FAILED
        noise, cases = _mean_noise(judged.suite, name)
        near = mean is not None and 0 < limit < 1 and cases >= _FEW and abs(mean - limit) <= noise
        told = f", ±{noise:.3f} at {_count_cases(cases)}" if near else ""
        yield Finding(
            "mean score",
            Conclusion.UNMEASURABLE if mean is None else reached,
            "no score" if mean is None else _format_mean(mean, limit) + told,
            f"≥ {_digits(limit, 2)}",
            judged.limits.where(f"min_score.{glob}", "min_score"),
            judged.suite.label,
            name,
            bound=limit,
            uncertain=near,
        )


def _mean_noise(suite: SuiteResult, evaluator: str) -> tuple[float, int]:
    """Half the width of the mean's 95 % interval, of one case infinite, and the number of cases."""
    means = score_side([suite.columns], evaluator).means
    if not means:
        return 0.0, 0
    middle = fmean(means.values())
    low, high = measure_spread([(mean - middle, 1) for mean in means.values()]).interval()
    return (high - low) / 2, len(means)


def find_limit(table: Mapping[str, float], evaluator: str) -> tuple[str, float | None]:
    """The glob that an evaluator matches and its limit, later globs winning; None where none matches."""
    matching = [(glob, limit) for glob, limit in table.items() if fnmatchcase(evaluator, glob)]
    return matching[-1] if matching else ("", None)


def check_assertions(judged: SuiteContext) -> Iterator[Finding]:
    """A suite that was run with `assert_test` did not raise; where nothing was judged, nobody knows what it would."""
    suite, columns = judged.suite, judged.suite.columns
    if not suite.assertion_failed:
        return
    if _has_no_evaluations(suite):
        conclusion, value = (
            Conclusion.UNMEASURABLE,
            f"{_count_cases(len(columns))}, none of them judged: all met errors",
        )
    else:
        erred = columns.count(Status.ERRORED)
        conclusion = Conclusion.FAILED
        value = f"{_count_cases(columns.count(Status.FAILED))} failed{f', {erred:,} met errors' if erred else ''}"
    yield Finding("assert_test", conclusion, value, "every case passes", "the suite", suite.label)


def _has_no_evaluations(suite: SuiteResult) -> bool:
    """Whether every case met an error before anybody had given a word on any."""
    erred = suite.columns.count(Status.ERRORED)
    said = suite.columns.labels or any(suite.mean(name) is not None for name in suite.evaluators)
    return 0 < erred == len(suite.columns) and not said


def check_quantity_limits(judged: SuiteContext) -> Iterator[Finding]:
    """Cost, tokens and the 95th percentile of latency stay within their absolute limits."""
    suite, limits = judged.suite, judged.limits
    latency = percentile_95(suite.columns.durations_ms)
    yield from _check_limit(judged, "cost", "max_cost", limit=limits.max_cost, value=suite.cost, forms=_DOLLARS)
    yield from _check_limit(judged, "tokens", "max_tokens", limit=limits.max_tokens, value=suite.tokens, forms=_TOKENS)
    yield from _check_limit(judged, "p95 latency", "max_p95_ms", limit=limits.max_p95_ms, value=latency, forms=_MS)


_DOLLARS = ("${:,.2f}", "${:,.4f}", "${:,.6f}")
_TOKENS = ("{:,.0f}",)
_MS = ("{:,.0f} ms", "{:,.2f} ms")


def _check_limit(
    judged: SuiteContext, rule: str, name: str, *, limit: float | None, value: float | None, forms: Sequence[str]
) -> Iterator[Finding]:
    if limit is None:
        return
    told, bound = ("unknown", forms[0].format(limit)) if value is None else _format_apart(value, limit, forms)
    conclusion = Conclusion.FAILED if value is not None and value > limit else Conclusion.PASSED
    unpriced = judged.suite.unpriced if rule == "cost" else ()
    if value is not None and unpriced:
        told = f"at least {told}, as no price is known of {', '.join(unpriced)}"
    if value is None or (unpriced and value <= limit):
        conclusion = Conclusion.UNMEASURABLE
    where = judged.limits.where(name)
    yield Finding(rule, conclusion, told, f"≤ {bound}", where, judged.suite.label, bound=limit)


def _format_apart(value: float, limit: float, forms: Sequence[str]) -> tuple[str, str]:
    """Both with as many digits as it takes to tell one from the other."""
    pairs = [(form.format(value), form.format(limit)) for form in forms]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


def percentile_95(values: Iterable[float]) -> float | None:
    """The 95th percentile, the smallest value that 95 % of the known ones do not exceed; None where none is known."""
    (found,) = percentiles(values, 0.95)
    return found


def check_judge_agreement(judged: SuiteContext) -> Iterator[Finding]:
    """Every judge agrees with people as often as is demanded of those that may fail a run."""
    least = judged.limits.min_judge_agreement
    if least is None:
        return
    where, limit = judged.limits.where("min_judge_agreement"), f"> {least:.1%}"
    for name, info in judged.suite.evaluators.items():
        if not is_judge(info):
            continue
        found = judged.calibrations.get((info.id, digest_fingerprint(info.fingerprint)))
        missing = judged.uncalibrated.get(name)
        conclusion = Conclusion.FAILED if missing else Conclusion.PASSED
        value = missing or (describe_reviews(found) if found else "")
        yield Finding("judge agreement", conclusion, value, limit, where, judged.suite.label, name, bound=least)
