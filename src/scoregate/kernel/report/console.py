"""The report in the terminal: changes, failing cases with reasons, gates, the verdict last."""

from __future__ import annotations

import os
from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.cases import ErrorView
from scoregate.kernel.report.console_sections import (
    MOST_LINES,
    FailingCases,
    RowTable,
    SuiteTable,
    list_drops,
    list_failing_cases,
)
from scoregate.kernel.report.console_text import (
    MARKS,
    TrimmedLines,
    format_place,
    hanging_indent,
    mark,
    more_line,
    safe_text,
)
from scoregate.kernel.report.notices import describe_ungated
from scoregate.kernel.report.rows import ReportState
from scoregate.kernel.report.text import one_line
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.frames import find_user_frames
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.slots import Place

_TABLE, _ERRORS, _GATES = 12, 10, 20
_LONGEST_CASE = 60
_RULES_OF_ERRORS = ("scripts end well", "suite is valid")
_ALL = 10_000
_INDENT = (0, 0, 0, 4)


def render(
    view: ReportView, *, full: bool = False, see: str = "", case_lines: int = MOST_LINES
) -> Iterator[RenderableType]:
    """Render the report as parts for `Console.print`. Untrusted text carries no markup.

    Args:
        view: the view of the report.
        full: print everything, not only about one screen.
        see: where readers find the rest, such as `report.html`.
        case_lines: the most lines about failing cases; the first case is always printed, except for 0.
    """
    rest = f": see {see}" if see else ""
    return map(TrimmedLines, _sections(view, rest, full=full, case_lines=case_lines))


def render_brief(view: ReportView, *, see: str = "") -> Iterator[RenderableType]:
    """Render only failures, what features add even then, and the verdict; for a run that passed, warnings and it.

    A green verdict says little about suites in which nothing can fail, so they are named, too.
    """
    rest = f": see {see}" if see else ""
    passed, ungated = view.verdict.conclusion is Conclusion.PASSED, describe_ungated(view.verdict)
    return map(
        TrimmedLines,
        (
            *(() if passed else _problems(view, rest)),
            *(line for each in view.sections if each.brief is not None for line in each.brief(view, False, rest)),
            *((_render_notice(ungated),) if passed and ungated else ()),
            *_gate_lines(view, rest, most=_GATES),
            _verdict_line(view),
        ),
    )


def _sections(view: ReportView, rest: str, *, full: bool, case_lines: int) -> Iterator[RenderableType]:
    most = _ALL if full else _TABLE
    if view.rows:
        yield RowTable(view, most)
        yield from (*more_line(len(view.rows) - most, "scorer", rest), Text())
    yield from _feature_lines(view, rest, Place.ROWS, Place.PARTS, full=full)
    if view.suites:
        yield SuiteTable(view, most)
        yield from (*more_line(len(view.suites) - most, "suite", rest), Text())
    yield from _feature_lines(view, rest, Place.COSTS, Place.RANKINGS, full=full)
    yield from _problems(view, rest, full=full, case_lines=case_lines)
    if view.notable.drops:
        yield from (*list_drops(view, full=full), Text())
    yield from _feature_lines(view, rest, Place.GATES, Place.CASES, full=full)
    yield from map(_render_notice, view.notices)
    for change in view.verdict.policy_changes[: _ALL if full else _GATES]:
        yield hanging_indent(
            Text("note:", style="yellow"),
            Text(f"the gates differ from the baseline's: {safe_text(change)}", style="yellow"),
        )
    yield from _gate_lines(view, rest, most=_ALL if full else _GATES)
    yield _verdict_line(view)


def _feature_lines(view: ReportView, rest: str, *places: Place, full: bool) -> Iterator[RenderableType]:
    for section in view.sections_at(*places):
        if section.terminal is not None:
            yield from section.terminal(view, full, rest)


def _render_notice(notice: str) -> RenderableType:
    return hanging_indent(Text("note:", style="cyan"), Text(safe_text(notice), style="cyan"))


def _problems(
    view: ReportView, rest: str, *, full: bool = False, case_lines: int = MOST_LINES
) -> Iterator[RenderableType]:
    if view.notable.failing:
        yield from list_failing_cases(view) if full else (FailingCases(view, rest, case_lines),)
        yield Text()
    errors = view.errors if full else [each for each in view.ungated_errors if not _is_reported(each, view)]
    if errors:
        shown_errors = errors if full else errors[:_ERRORS]
        for error in shown_errors:
            text = f"{format_place(error.where, error.evaluator)}: {safe_text(error.type)}: {safe_text(error.message)}"
            yield hanging_indent(Text("!", style="yellow"), Text(text + _format_trials(error)))
            if error.advice:
                yield Padding(Text(safe_text(error.advice), style="dim"), _INDENT, expand=False)
            if not full:
                yield from _frame_lines(error.trace)
            elif error.trace:
                first = [f"first in {safe_text(error.case)}:"] if error.case else []
                yield Padding(Text("\n".join([*first, error.trace]), style="dim"), _INDENT, expand=False)
        yield from (*more_line(len(errors) - len(shown_errors), "error", rest), Text())


def _format_trials(error: ErrorView) -> str:
    """The case with the error: ` (in "returns")`, or ` (in 3 trials with 2 messages, first in "returns")`."""
    if not error.case:
        return ""
    first = f'"{safe_text(one_line(error.case, _LONGEST_CASE))}"'
    messages = f" with {error.messages}" if error.messages else ""
    return f" (in {error.trials:,} trials{messages}, first in {first})" if error.trials > 1 else f" (in {first})"


def _is_reported(error: ErrorView, view: ReportView) -> bool:
    """Whether a gate of the report shows the error, and so its advice."""
    return any(_causes(error, finding) for finding in view.failed)


def _causes(error: ErrorView, finding: Finding) -> bool:
    """Whether an error with advice is the reason of a finding."""
    if not (error.gated and error.advice) or finding.rule not in _RULES_OF_ERRORS:
        return False
    return error.where == finding.suite if finding.suite is not None else finding.value.startswith(error.where)


def _frame_lines(trace: str) -> Iterator[RenderableType]:
    """The last lines of the user's code that a traceback names."""
    for frame in find_user_frames(trace):
        text = Text(f"at {safe_text(frame.describe(os.getcwd()))}", style="dim")  # noqa: PTH109
        yield Padding(text, _INDENT, expand=False)


def _gate_lines(view: ReportView, rest: str, *, most: int) -> Iterator[RenderableType]:
    for finding in view.verdict.warnings[:most]:
        yield hanging_indent(
            Text("warning:", style="yellow").append(" ").append_text(mark(finding.conclusion)), _gate_text(finding)
        )
    for finding in view.listed_gates[:most]:
        yield hanging_indent(mark(finding.conclusion), _gate_text(finding))
        for advice in dict.fromkeys(each.advice for each in view.errors if _causes(each, finding)):
            yield Padding(Text(safe_text(advice), style="dim"), _INDENT, expand=False)
    yield from more_line(len(view.listed_gates) - most, "gate", rest)
    for finding in view.near[:most]:
        yield hanging_indent(
            mark(ReportState.UNCERTAIN), Text("within noise of its limit: ").append_text(_gate_text(finding))
        )


def _gate_text(finding: Finding) -> Text:
    text = Text().append(safe_text(finding.title), "bold")
    where = (
        f" {finding.preposition} {format_place(finding.suite, finding.evaluator)}" if finding.suite is not None else ""
    )
    limit = f", required: {safe_text(finding.limit)}" if finding.has_limit else ""
    text.append(f"{where}: {safe_text(finding.value)}{limit}")
    if finding.origin not in ("", "default", "always"):
        text.append(f" (set in {safe_text(finding.origin)})", style="dim")
    return text


def _verdict_line(view: ReportView) -> Table:
    totals, facts = view.totals, [safe_text(view.heading)]
    if totals.cases != totals.counts.trials:
        facts.append(number_format.trials(totals.cases, totals.counts.trials))
    if totals.pass_rate is not None:
        share = f"{number_format.percent(totals.pass_rate)}{totals.weights}"
        facts.append(f"{totals.counts.passed:,} of {totals.counts.judged:,} pass ({share})")
    if view.base and totals.pass_rate is not None:
        flips = totals.flips
        note = f" ({flips.text})" if flips.text and not flips.matter else ""
        facts.append(f"{flips.newly_failing:,} newly failing, {flips.newly_passing:,} newly passing{note}")
    if totals.with_errors:
        facts.append(f"{totals.with_errors:,} with errors")
    if totals.cost is not None:
        facts.append(number_format.cost(totals.cost))
    facts.append(number_format.duration(totals.duration_s))
    sign, color = MARKS[view.mark]
    style = Style.parse(color) + Style(bold=True)
    return hanging_indent(Text(sign, style=style), Text(f"scoregate: {' · '.join(facts)}", style=style))
