"""The report in the terminal: what differs, what fails and why, the verdict last."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scoregate.ci.report import numbers
from scoregate.ci.report.console_cases import Failing, every
from scoregate.ci.report.console_tables import Rows, Suites
from scoregate.ci.report.console_text import MARKS, Trimmed, hung, mark, place, shown
from scoregate.ci.report.harvest import ErrorView
from scoregate.ci.report.row_views import State
from scoregate.ci.report.view import ReportView
from scoregate.core.rules import Conclusion, Finding

_TABLE, _ERRORS, _GATES = 12, 10, 20
_ALL = 10_000
_INDENT = (0, 0, 0, 4)


def render(view: ReportView, *, whole: bool = False, see: str = "") -> Iterator[RenderableType]:
    """What `Console.print` shows of a verdict, part by part. Text from outside carries no markup.

    Args:
        whole: everything that there is, else about a screen of it. see: where the rest is to be seen, `report.html`.
    """
    rest = f": see {see}" if see else ""
    return map(Trimmed, _parts(view, rest, whole=whole))


def brief(view: ReportView, *, see: str = "") -> Iterator[RenderableType]:
    """Only what failed and the verdict; of a run that passed, its warnings and the verdict."""
    rest = f": see {see}" if see else ""
    passed = view.conclusion is Conclusion.PASSED
    return map(Trimmed, (*(() if passed else _wrong(view, rest)), *_judged(view, rest, most=_GATES), _verdict(view)))


def _parts(view: ReportView, rest: str, *, whole: bool) -> Iterator[RenderableType]:
    most = _ALL if whole else _TABLE
    if view.rows:
        yield Rows(view, most)
        yield from (*_more(len(view.rows) - most, "evaluator", rest), Text())
    if view.suites:
        yield Suites(view, most)
        yield from (*_more(len(view.suites) - most, "suite", rest), Text())
    yield from _wrong(view, rest, whole=whole)
    for notice in view.notices:
        yield hung(Text("note:", style="cyan"), Text(shown(notice), style="cyan"))
    for change in view.policy_changes[: _ALL if whole else _GATES]:
        yield hung(
            Text("note:", style="yellow"), Text(f"the gates differ from the base's: {shown(change)}", style="yellow")
        )
    yield from _judged(view, rest, most=_ALL if whole else _GATES)
    yield _verdict(view)


def _wrong(view: ReportView, rest: str, *, whole: bool = False) -> Iterator[RenderableType]:
    if view.failing:
        yield from every(view) if whole else (Failing(view, rest),)
        yield Text()
    errors = view.errors if whole else view.ungated_errors
    if errors:
        shown_errors = errors if whole else errors[:_ERRORS]
        for error in shown_errors:
            yield from _error(error, whole=whole)
        yield from (*_more(len(errors) - len(shown_errors), "error", rest), Text())


def _judged(view: ReportView, rest: str, *, most: int) -> Iterator[RenderableType]:
    for finding in view.warnings[:most]:
        yield hung(Text("warning:", style="yellow").append(" ").append_text(mark(finding.conclusion)), _gate(finding))
    for finding in view.failed[:most]:
        yield hung(mark(finding.conclusion), _gate(finding))
    yield from _more(len(view.failed) - most, "gate", rest)
    for finding in view.near[:most]:
        yield hung(mark(State.UNCERTAIN), _gate(finding))


def _error(error: ErrorView, *, whole: bool) -> Iterator[RenderableType]:
    told = f"{place(error.where, error.evaluator)}: {shown(error.type)}: {shown(error.message)}"
    trials = f" (in {numbers.count(error.trials, 'trial')})" if error.trials > 1 else ""
    yield hung(Text("!", style="yellow"), Text(told + trials))
    if error.advice:
        yield Padding(Text(shown(error.advice), style="dim"), _INDENT, expand=False)
    if whole and error.trace:
        first = [f"first in {shown(error.case)}:"] if error.case else []
        yield Padding(Text("\n".join([*first, error.trace]), style="dim"), _INDENT, expand=False)


def _gate(finding: Finding) -> Text:
    text = Text().append(shown(finding.title), "bold")
    where = f" {finding.preposition} {place(finding.suite, finding.evaluator)}" if finding.suite is not None else ""
    limit = f", required: {shown(finding.limit)}" if finding.has_limit else ""
    text.append(f"{where}: {shown(finding.value)}{limit}")
    if finding.origin not in ("", "default", "always"):
        text.append(f" (set in {shown(finding.origin)})", style="dim")
    return text


def _more(hidden: int, noun: str, rest: str) -> Iterator[Text]:
    if hidden > 0:
        yield Text(f"… {numbers.count(hidden, f'more {noun}')}{rest}", style="dim")


def _verdict(view: ReportView) -> Table:
    sign, style = MARKS[view.conclusion]
    told = f"scoregate: {' · '.join([shown(view.heading), *_told(view)])}"
    return hung(Text(sign, style=style), Text(told, style=style))


def _told(view: ReportView) -> Iterator[str]:
    totals = view.totals
    if totals.pass_rate is not None:
        yield f"{totals.passed:,} of {totals.passed + totals.failed:,} pass ({numbers.percent(totals.pass_rate)})"
    if view.base and totals.pass_rate is not None:
        why = f" ({totals.flips_text})" if totals.flips_text and not totals.flips_matter else ""
        yield f"{totals.newly_failing:,} newly failing, {totals.newly_passing:,} newly passing{why}"
    if totals.with_errors:
        yield f"{totals.with_errors:,} with errors"
    if totals.cost is not None:
        yield numbers.cost(totals.cost)
    yield numbers.duration(totals.duration_s)
