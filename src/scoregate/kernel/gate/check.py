"""The checks of the gate: what applies rules, and which rows a relative gate watches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeAlias, TypeVar

from scoregate.kernel.compare.agreement import is_judge
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import Row
from scoregate.kernel.gate.families import GateLimit
from scoregate.kernel.gate.finding import FindIdle, Finding, RunContext, SuiteContext
from scoregate.kernel.gate.suite_rules import match_limit
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.declaration import Limit, Rule
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_means import count_passes
from scoregate.kernel.types.runs.evidence import Use

_Context = TypeVar("_Context", RunContext, SuiteContext)


@record
class WatchedRows:
    """A table of rows that a relative gate watches. All watched rows of a run share one error rate.

    Attributes:
        list_rows: the rows of a comparison.
        list_limits: the limits on the row at a place of the table that can make the run red.
        put_rows: the comparison with other rows in the same places.
        list_suites: the labels of the suites of which parts are watched.
    """

    list_rows: Callable[[Comparison], Sequence[Row]]
    list_limits: Callable[[int, Row, SuiteContext], Iterator[GateLimit]]
    put_rows: Callable[[Comparison, Sequence[Row]], Comparison]
    list_suites: Callable[[Comparison], Iterable[str]] = lambda _: ()


def _explain_nothing(_: SuiteContext) -> str:
    return ""


@record
class Check(Generic[_Context]):
    """What applies one rule, or several that belong together.

    Attributes:
        find: yields the findings for a run or a suite.
        rules: the rules that these findings are of.
        before: the rule before which a feature's findings are reported; None for the end.
        watches: the rows that it watches; None for none.
        limits: the limits that it applies.
        explain: why nothing is reported about a suite although a limit is set; empty if something has to be.
        find_idle: what is wrong with limits that apply to nothing in some suites.
        in_arms: whether it applies to an arm without a skill, which only shows what the skill changes.
    """

    find: Callable[[_Context], Iterator[Finding]]
    rules: tuple[Rule, ...]
    before: Rule | None = None
    watches: WatchedRows | None = None
    limits: tuple[Limit[Any], ...] = ()
    explain: Callable[[SuiteContext], str] = _explain_nothing
    find_idle: FindIdle | None = None
    in_arms: bool = False


SuiteCheck: TypeAlias = Check[SuiteContext]
RunCheck: TypeAlias = Check[RunContext]


def order_checks(kernel: Sequence[SuiteCheck], features: Sequence[SuiteCheck]) -> Iterator[SuiteCheck]:
    """The checks of the kernel, and those of features at their places."""
    for check in kernel:
        yield from (each for each in features if each.before in check.rules)
        yield check
    yield from (each for each in features if each.before is None)


def apply_checks(
    context: SuiteContext, checks: Sequence[SuiteCheck], run_findings: Sequence[Finding]
) -> Iterator[Finding]:
    """The findings for a suite. A limit that is set without a finding or a reason is unmeasurable.

    Args:
        context: the suite.
        checks: the checks in their order.
        run_findings: the findings about the whole run.
    """
    uses = [(check, Use.ERRORS if check.in_arms else Use.LIMITS) for check in checks]
    by_check = [
        (check, list(check.find(replace(context, suite=context.suite.select(use)))))
        for check, use in uses
        if context.suite.evidence.counts(use)
    ]
    suite_findings = [finding for _, found in by_check for finding in found]
    yield from suite_findings
    # Another rule may be the reason, such as a suite without cases.
    if any(each.conclusion is not Conclusion.PASSED or not each.applied for each in (*suite_findings, *run_findings)):
        return
    for check, found in by_check:
        if not (found or check.explain(context)):
            yield from _find_unanswered(check, context)


def _find_unanswered(check: SuiteCheck, context: SuiteContext) -> Iterator[Finding]:
    limits, label = context.limits, context.suite.label
    for limit in check.limits:
        is_due = context.base_suite is not None or not limit.is_relative
        if is_due and _concerns_suite(limit, context):
            value = f"{limit.name} is set, but was not checked"
            origin = limits.find_origin(limit.name)
            yield Finding(check.rules[0], Conclusion.UNMEASURABLE, value, "a result or a reason", origin, label)


def _concerns_suite(limit: Limit[Any], context: SuiteContext) -> bool:
    """Whether a limit is set for a suite, and for an evaluator whose scores count if it is by evaluator."""
    if limit.kind.by != "evaluator":
        return limit.is_set(context.limits)
    names = context.suite.evaluators.keys() - context.uncalibrated.keys()
    return any(fnmatchcase(name, glob) for glob in limit.of(context.limits) for name in names)


def explain_pass_rate(context: SuiteContext) -> str:
    """No case has a threshold."""
    return "" if count_passes([context.suite.columns]).rate is not None else "no case has a threshold"


def explain_drops(context: SuiteContext) -> str:
    """The rows of the evaluators with a limit can't be compared."""
    limited = [name for name in context.suite.evaluators if match_limit(context.limits.max_drop, name)[1] is not None]
    return _explain_rows(context, limited)


def explain_unapplied_regressions(context: SuiteContext) -> str:
    """No row can be compared."""
    return _explain_rows(context, context.suite.evaluators)


def _explain_rows(context: SuiteContext, evaluators: Collection[str]) -> str:
    """Why none of these evaluators has a change; empty if one has, or isn't compared at all."""
    counted = [name for name in evaluators if name not in context.uncalibrated]
    rows = {row.evaluator: row for row in context.rows}
    if any(name not in rows for name in counted):
        return ""
    return describe_rows((rows[name] for name in counted), none="people don't agree with its judges")


def describe_rows(rows: Iterable[Row], *, none: str) -> str:
    """Why none of these rows has a change; empty if one has.

    Args:
        rows: the rows.
        none: the reason if there are no rows.
    """
    rows = list(rows)
    if any(row.delta is not None and not row.lost.too_many for row in rows):
        return ""
    return "; ".join(dict.fromkeys(row.reason or row.label for row in rows)) or none


def explain_lost_scores(context: SuiteContext) -> str:
    """Only lost scores are reported."""
    return "; ".join(row.reason for row in context.rows if row.lost.too_many) or "no score is lost"


def explain_critical_cases(_: SuiteContext) -> str:
    """Only failing cases are reported."""
    return "no critical case newly fails"


def explain_judge_agreement(context: SuiteContext) -> str:
    """No evaluator is a judge."""
    return "" if any(map(is_judge, context.suite.evaluators.values())) else "no scorer is a judge"
