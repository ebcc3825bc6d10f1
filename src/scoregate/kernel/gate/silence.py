"""Why a check reports nothing about a suite although a limit is set. Without a reason, the suite is unmeasurable."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from scoregate.kernel.compare.agreement import is_judge
from scoregate.kernel.compare.comparison_rows import Row
from scoregate.kernel.gate.finding import SuiteContext
from scoregate.kernel.gate.suite_rules import match_limit
from scoregate.kernel.types.runs.case_means import count_passes


def explain_pass_rate(context: SuiteContext) -> str:
    """No case has a threshold."""
    return "" if count_passes([context.suite.columns]).rate is not None else "no case has a threshold"


def explain_drops(context: SuiteContext) -> str:
    """The rows of the evaluators with a limit can't be compared."""
    limited = [name for name in context.suite.evaluators if match_limit(context.limits.max_drop, name)[1] is not None]
    return _explain_rows(context, limited)


def explain_regressions(context: SuiteContext) -> str:
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
    if any(row.delta is not None and not row.lost_too_many for row in rows):
        return ""
    return "; ".join(dict.fromkeys(row.reason or row.label for row in rows)) or none


def explain_lost_scores(context: SuiteContext) -> str:
    """Only lost scores are reported."""
    return "; ".join(row.reason for row in context.rows if row.lost_too_many) or "no score is lost"


def explain_critical_cases(_: SuiteContext) -> str:
    """Only failing cases are reported."""
    return "no critical case newly fails"


def explain_judge_agreement(context: SuiteContext) -> str:
    """No evaluator is a judge."""
    return "" if any(map(is_judge, context.suite.evaluators.values())) else "no evaluator is a judge"
