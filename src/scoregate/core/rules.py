"""The gate's rules: each a small function that yields what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from scoregate.core.case import Status
from scoregate.core.compare import Comparison
from scoregate.core.policy import Limits
from scoregate.core.record import SuiteResult


class Conclusion(StrEnum):
    """What the whole comes to. A failed gate is certain, so it wins over what could not be measured."""

    PASSED = "passed"
    FAILED = "failed"
    UNMEASURABLE = "unmeasurable"


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule applied: whether it holds, the value and limit in words, and where the limit was set."""

    rule: str
    conclusion: Conclusion
    value: str
    limit: str
    origin: str = "default"
    suite: str | None = None
    evaluator: str | None = None


def something_ran(comparison: Comparison) -> Iterator[Finding]:
    """Zero suites are never green."""
    if not comparison.run.suites:
        yield Finding("something ran", Conclusion.UNMEASURABLE, "0 suites", "at least 1 suite", "always")


def scripts_ended_well(comparison: Comparison) -> Iterator[Finding]:
    """Every script exits 0, unless it did so because its own `assert_test` raised."""
    asserted = {suite.script for suite in comparison.run.suites if suite.assertion_failed}
    for script in comparison.run.scripts:
        if script.timed_out:
            value = f"{script.name} was stopped after {script.duration_s:.0f} s"
        elif script.exit_code is None:
            value = f"{script.name} did not start"
        elif script.exit_code and script.name not in asserted:
            value = f"{script.name} exited with {script.exit_code}"
        else:
            continue
        yield Finding("scripts end well", Conclusion.UNMEASURABLE, value, "exit code 0", "always")


def scripts_speak(comparison: Comparison) -> Iterator[Finding]:
    """Every script runs a suite, unless a filter may have left it out."""
    run = comparison.run
    heard = {suite.script for suite in run.suites}
    for script in run.scripts:
        if script.exit_code == 0 and script.name not in heard and not run.filters:
            value = f"{script.name} ran no suite"
            yield Finding("scripts run suites", Conclusion.UNMEASURABLE, value, "at least 1 suite each", "always")


def suites_remain(comparison: Comparison) -> Iterator[Finding]:
    """A suite of the base is still there."""
    for label in () if comparison.run.filters else comparison.gone:
        yield Finding("suites remain", Conclusion.UNMEASURABLE, f"{label} is gone", "every suite of the base", "always")


def completed(suite: SuiteResult, _limits: Limits) -> Iterator[Finding]:
    """The suite finished, ran every case that it planned, and met no error of its own."""
    for error in suite.errors:
        yield _unmeasurable(suite, "suite is valid", f"{error.type}: {error.message}", "no error")
    if not suite.complete:
        yield _unmeasurable(suite, "suite finished", f"{len(suite.columns)} cases, then no more", "a finished suite")
    if not len(suite.columns):
        yield _unmeasurable(suite, "cases ran", "0 cases", "at least 1 case")
    elif not suite.evaluations:
        yield _unmeasurable(suite, "cases were evaluated", "0 evaluations", "at least 1 evaluation")


def _unmeasurable(suite: SuiteResult, rule: str, value: str, limit: str) -> Finding:
    return Finding(rule, Conclusion.UNMEASURABLE, value, limit, "always", suite.label)


def error_rate(suite: SuiteResult, limits: Limits) -> Iterator[Finding]:
    """Not more cases err than allowed."""
    columns, limit = suite.columns, limits.max_error_rate
    bad = set().union(*columns.errored.values()) | {
        row for row in range(len(columns)) if columns.status(row) is Status.ERRORED
    }
    if limit is None or not len(columns):
        return
    rate = len(bad) / len(columns)
    conclusion = Conclusion.UNMEASURABLE if rate > limit else Conclusion.PASSED
    value = f"{len(bad)} of {len(columns)} cases ({rate:.1%})"
    yield Finding("error rate", conclusion, value, f"≤ {limit:.1%}", _where(limits, "max_error_rate"), suite.label)


def pass_rate(suite: SuiteResult, limits: Limits) -> Iterator[Finding]:
    """Of the cases that have a threshold, enough meet it."""
    passed, failed = suite.columns.count(Status.PASSED), suite.columns.count(Status.FAILED)
    limit = limits.min_pass_rate
    if limit is None or not passed + failed:
        return
    rate = passed / (passed + failed)
    conclusion = Conclusion.FAILED if rate < limit else Conclusion.PASSED
    value = f"{passed} of {passed + failed} cases ({rate:.1%})"
    yield Finding("pass rate", conclusion, value, f"≥ {limit:.1%}", _where(limits, "min_pass_rate"), suite.label)


def min_score(suite: SuiteResult, limits: Limits) -> Iterator[Finding]:
    """The mean score of an evaluator reaches its limit."""
    for name, limit in limits.min_score.items():
        if name not in suite.evaluators:
            continue
        mean, where = suite.mean(name), _where(limits, f"min_score.{name}")
        conclusion = Conclusion.PASSED if mean is not None and mean >= limit else Conclusion.FAILED
        if mean is None:
            conclusion = Conclusion.UNMEASURABLE
        value = "no score" if mean is None else f"{mean:.3f}"
        yield Finding("mean score", conclusion, value, f"≥ {limit:.2f}", where, suite.label, name)


def assertions_held(suite: SuiteResult, _limits: Limits) -> Iterator[Finding]:
    """A suite that was run with `assert_test` did not raise."""
    if suite.assertion_failed:
        bad = suite.columns.count(Status.FAILED) + suite.columns.count(Status.ERRORED)
        yield Finding(
            "assert_test", Conclusion.FAILED, f"{bad} cases failed", "every case passes", "the suite", suite.label
        )


def _where(limits: Limits, name: str) -> str:
    return limits.origin.get(name, "default")


RUN_RULES: tuple[Callable[[Comparison], Iterator[Finding]], ...] = (
    something_ran,
    scripts_ended_well,
    scripts_speak,
    suites_remain,
)
SUITE_RULES: tuple[Callable[[SuiteResult, Limits], Iterator[Finding]], ...] = (
    completed,
    error_rate,
    pass_rate,
    min_score,
    assertions_held,
)
