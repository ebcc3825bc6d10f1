"""The report in the terminal: what differs, what fails and why, the verdict last."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from scoregate.ci.report import numbers
from scoregate.ci.report.case_views import FailingCase
from scoregate.ci.report.console_tables import SHOWN, Rows, Suites
from scoregate.ci.report.console_text import MARKS, mark, place, shown
from scoregate.ci.report.harvest import ErrorView
from scoregate.ci.report.talks import TalkView
from scoregate.ci.report.view import ReportView
from scoregate.core.rules import Finding

_CASES, _ERRORS, _GATES = 10, 10, 20
_INDENT = (0, 0, 0, 4)
_SAID = 200


def render(view: ReportView) -> RenderableType:
    """What `Console.print` shows of a verdict. Text from outside carries no markup."""
    return Group(*_parts(view))


def _parts(view: ReportView) -> Iterator[RenderableType]:
    if view.rows:
        yield Rows(view)
        yield from (*_more(len(view.rows) - SHOWN, "evaluator"), Text())
    if view.suites:
        yield Suites(view)
        yield from (*_more(len(view.suites) - SHOWN, "suite"), Text())
    if view.failing:
        yield from (*_failing(view), Text())
    if view.errors:
        yield from (*_errors(view), *_more(len(view.errors) - _ERRORS, "kind of error"), Text())
    for notice in view.notices:
        yield Text(f"note: {shown(notice)}", style="cyan")
    for change in view.policy_changes[:_GATES]:
        yield Text(f"note: the gates differ from the base's: {shown(change)}", style="yellow")
    for finding in view.warnings[:_GATES]:
        yield Text("warning: ", style="yellow").append_text(_gate(finding))
    for finding in view.failed[:_GATES]:
        yield _gate(finding)
    yield from _more(len(view.failed) - _GATES, "gate")
    yield _verdict(view)


def _failing(view: ReportView) -> Iterator[RenderableType]:
    kind = "newly failing case" if view.newly else "failing case"
    listed = view.failing[:_CASES]
    rest = f", the {len(listed)} worst" if len(listed) < view.failing_total else ""
    yield Text(f"{numbers.count(view.failing_total, kind)}{rest}:", style="bold")
    for case in listed:
        yield from _case(case)


def _case(case: FailingCase) -> Iterator[RenderableType]:
    where = " · ".join(filter(None, (case.suite, case.place)))
    yield Text(f"  {shown(case.name)}").append(f"  {shown(where)}", style="dim")
    for miss in case.misses:
        before = "" if miss.base is None else f"{numbers.short(miss.base)} → "
        because = f": {shown(miss.why)}" if miss.why else ""
        told = f"{shown(miss.evaluator)} {before}{miss.shown}, needs {miss.threshold}{because}"
        yield Padding(Text(told), _INDENT, expand=False)
    for line in _talk(case.talk) if case.talk else ():
        yield Padding(Text(line, style="dim"), _INDENT, expand=False)


def _talk(talk: TalkView) -> Iterator[str]:
    if talk.told:
        yield f"{talk.told}:"
    for line in talk.lines:
        if line.base is not None and line.base != line.now:
            yield f"  {line.turn} {line.who}, in the base: {shown(line.base, _SAID)}"
        yield f"  {line.turn} {line.who}: {shown(line.now, _SAID)}"
    yield f"{talk.course}; in the base {talk.base_course}" if talk.base_course else talk.course


def _errors(view: ReportView) -> Iterator[RenderableType]:
    for error in view.errors[:_ERRORS]:
        yield _error(error)
        if error.advice:
            yield Padding(Text(shown(error.advice), style="dim"), _INDENT, expand=False)


def _error(error: ErrorView) -> Text:
    text = Text("! ", style="yellow")
    told = f"{place(error.where, error.evaluator)}: {shown(error.type)}: {shown(error.message)}"
    text.append(told, style="default")
    if error.trials > 1:
        text.append(f" (in {numbers.count(error.trials, 'trial')})", style="default")
    return text


def _gate(finding: Finding) -> Text:
    text = mark(finding.conclusion).append(f" {shown(finding.rule)}", style="bold default")
    where = f" of {place(finding.suite, finding.evaluator)}" if finding.suite is not None else ""
    text.append(f"{where}: {shown(finding.value)}, required: {shown(finding.limit)}", style="default")
    if finding.origin not in ("", "default", "always"):
        text.append(f" (set in {shown(finding.origin)})", style="dim default")
    return text


def _more(hidden: int, noun: str) -> Iterator[Text]:
    if hidden > 0:
        yield Text(f"… {numbers.count(hidden, noun)} more", style="dim")


def _verdict(view: ReportView) -> Text:
    sign, style = MARKS[view.conclusion]
    return Text(f"{sign} scoregate: {' · '.join([shown(view.heading), *_told(view)])}", style=style)


def _told(view: ReportView) -> Iterator[str]:
    totals = view.totals
    if totals.pass_rate is not None:
        yield f"{totals.passed:,} of {totals.passed + totals.failed:,} pass ({numbers.percent(totals.pass_rate)})"
    if view.base:
        yield f"{totals.newly_failing:,} newly failing, {totals.newly_passing:,} newly passing"
    if totals.with_errors:
        yield f"{totals.with_errors:,} with errors"
    if totals.cost is not None:
        yield numbers.cost(totals.cost)
    yield numbers.duration(totals.duration_s)
