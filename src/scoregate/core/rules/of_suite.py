"""Rules about one suite by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from scoregate.core.case import Status
from scoregate.core.columns import percentiles
from scoregate.core.record import SuiteResult
from scoregate.core.rules.finding import Conclusion, Finding
from scoregate.core.rules.judged import JudgedSuite


def completed(judged: JudgedSuite) -> Iterator[Finding]:
    """The suite finished, ran cases, evaluated them, and met no error of its own."""
    suite = judged.suite
    for error in suite.errors:
        yield _unmeasurable(suite, "suite is valid", f"{error.type}: {error.message}", "no error")
    if not suite.complete:
        yield _unmeasurable(suite, "suite finished", f"{_cases(len(suite.columns))}, then no more", "a finished suite")
    if not len(suite.columns):
        yield _unmeasurable(suite, "cases ran", "0 cases", "at least 1 case")
    elif not suite.evaluations:
        yield _unmeasurable(suite, "cases were evaluated", "0 evaluations", "at least 1 evaluation")


def _unmeasurable(suite: SuiteResult, rule: str, value: str, limit: str) -> Finding:
    return Finding(rule, Conclusion.UNMEASURABLE, value, limit, "always", suite.label)


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def error_rate(judged: JudgedSuite) -> Iterator[Finding]:
    """Not more cases err than allowed."""
    columns, limit = judged.suite.columns, judged.limits.max_error_rate
    if limit is None or not len(columns):
        return
    bad = columns.erring()
    rate = len(bad) / len(columns)
    yield Finding(
        "error rate",
        Conclusion.UNMEASURABLE if rate > limit else Conclusion.PASSED,
        f"{len(bad):,} of {len(columns):,} cases ({percent(rate)})",
        f"≤ {limit:.1%}",
        judged.limits.where("max_error_rate"),
        judged.suite.label,
        bound=limit,
    )


def pass_rate(judged: JudgedSuite) -> Iterator[Finding]:
    """Of the cases that have a threshold, enough meet it."""
    columns, limit = judged.suite.columns, judged.limits.min_pass_rate
    passed, failed = columns.count(Status.PASSED), columns.count(Status.FAILED)
    if limit is None or not passed + failed:
        return
    rate = passed / (passed + failed)
    yield Finding(
        "pass rate",
        Conclusion.FAILED if rate < limit else Conclusion.PASSED,
        f"{passed:,} of {passed + failed:,} cases ({percent(rate)})",
        f"≥ {limit:.1%}",
        judged.limits.where("min_pass_rate"),
        judged.suite.label,
        bound=limit,
    )


def percent(rate: float) -> str:
    """A rate in [0, 1] as `91.5%`; all and none are said only of all and of none."""
    return f"{rate if rate in (0, 1) else min(max(rate, 0.001), 0.999):.1%}"


def min_score(judged: JudgedSuite) -> Iterator[Finding]:
    """The mean score of an evaluator reaches its limit."""
    for name in judged.suite.evaluators:
        glob, limit = limit_of(judged.limits.min_score, name)
        if limit is None:
            continue
        mean = judged.suite.mean(name)
        reached = Conclusion.PASSED if mean is not None and mean >= limit else Conclusion.FAILED
        yield Finding(
            "mean score",
            Conclusion.UNMEASURABLE if mean is None else reached,
            "no score" if mean is None else f"{mean:.3f}",
            f"≥ {limit:.2f}",
            judged.limits.where(f"min_score.{glob}", "min_score"),
            judged.suite.label,
            name,
            bound=limit,
        )


def limit_of(table: Mapping[str, float], evaluator: str) -> tuple[str, float | None]:
    """The glob that an evaluator matches and its limit, later globs winning; None where none matches."""
    matching = [(glob, limit) for glob, limit in table.items() if fnmatchcase(evaluator, glob)]
    return matching[-1] if matching else ("", None)


def assertions_held(judged: JudgedSuite) -> Iterator[Finding]:
    """A suite that was run with `assert_test` did not raise."""
    columns = judged.suite.columns
    if judged.suite.assertion_failed:
        value = f"{_cases(columns.count(Status.FAILED) + columns.count(Status.ERRORED))} failed"
        yield Finding("assert_test", Conclusion.FAILED, value, "every case passes", "the suite", judged.suite.label)


def quantity_limits(judged: JudgedSuite) -> Iterator[Finding]:
    """Cost, tokens and the 95th percentile of latency stay within their absolute limits."""
    columns, limits = judged.suite.columns, judged.limits
    measured: Sequence[tuple[str, str, float | None, Callable[[], float | None], str]] = (
        ("cost", "max_cost", limits.max_cost, lambda: judged.suite.cost, "${:.2f}"),
        ("tokens", "max_tokens", limits.max_tokens, lambda: judged.suite.tokens, "{:,.0f}"),
        ("p95 latency", "max_p95_ms", limits.max_p95_ms, lambda: p95(columns.durations_ms), "{:,.0f} ms"),
    )
    for rule, name, limit, measure, form in measured:
        if limit is None:
            continue
        value = measure()
        within = Conclusion.PASSED if value is not None and value <= limit else Conclusion.FAILED
        yield Finding(
            rule,
            Conclusion.UNMEASURABLE if value is None else within,
            "unknown" if value is None else form.format(value),
            f"≤ {form.format(limit)}",
            limits.where(name),
            judged.suite.label,
            bound=limit,
        )


def p95(values: Iterable[float]) -> float | None:
    """The 95th percentile, the smallest value that 95 % of the known ones do not exceed; None where none is known."""
    (found,) = percentiles(values, 0.95)
    return found
