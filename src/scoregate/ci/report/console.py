"""The report in the terminal: changes, failing cases with reasons, gates, the verdict last."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from scoregate.ci.report import number_format
from scoregate.ci.report.arms import ArmView
from scoregate.ci.report.cases import ErrorView
from scoregate.ci.report.console_sections import (
    MOST_LINES,
    FailingCases,
    RowTable,
    SuiteTable,
    list_drops,
    list_failing_cases,
    list_slices,
)
from scoregate.ci.report.console_text import (
    MARKS,
    TrimmedLines,
    format_place,
    hanging_indent,
    mark,
    max_width,
    safe_text,
)
from scoregate.ci.report.console_variants import render_variants
from scoregate.ci.report.coverage import CoverageView
from scoregate.ci.report.exemptions import ExemptionView
from scoregate.ci.report.model_calls import CallsRow, CallsTable
from scoregate.ci.report.number_format import NONE
from scoregate.ci.report.rows import ReportState
from scoregate.ci.report.text import one_line
from scoregate.ci.report.view import ReportView
from scoregate.core.exemptions import ExemptionState
from scoregate.core.frames import find_user_frames
from scoregate.core.gate.finding import Conclusion, Finding
from scoregate.core.records import record

_TABLE, _ERRORS, _GATES = 12, 10, 20
_LONGEST_CASE = 60
_RULES_OF_ERRORS = ("scripts end well", "suite is valid")
_ALL = 10_000
_INDENT = (0, 0, 0, 4)
_CALLS, _UNUSED, _GAP, _NAME = 200, 5, 2, 26


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
    """Render only failures, expired exemptions and the verdict; for a run that passed, warnings and the verdict.

    A green verdict says little about suites in which nothing can fail, so they are named, too.
    """
    rest = f": see {see}" if see else ""
    expired = [each for each in view.shown_exemptions if each.state is ExemptionState.EXPIRED]
    passed = view.conclusion is Conclusion.PASSED
    ungated = (_render_notice(view.ungated_note),) if passed and view.ungated_note else ()
    return map(
        TrimmedLines,
        (
            *(() if passed else _problems(view, rest)),
            *_exemption_lines(expired, most=_GATES),
            *ungated,
            *_gate_lines(view, rest, most=_GATES),
            _verdict_line(view),
        ),
    )


def _list_arms(arms: Sequence[ArmView], rest: str, *, most: int) -> Iterator[RenderableType]:
    for arm in arms[:most]:
        yield hanging_indent(Text(f"{arm.suite}:", style="bold"), Text(safe_text(arm.sentence, 600)))
    if arms:
        yield from (*_more_line(len(arms) - most, "skill", rest), Text())


def _sections(view: ReportView, rest: str, *, full: bool, case_lines: int) -> Iterator[RenderableType]:
    most = _ALL if full else _TABLE
    if view.rows:
        yield RowTable(view, most)
        yield from (*_more_line(len(view.rows) - most, "evaluator", rest), Text())
    yield from _list_arms(view.arms, rest, most=most)
    if view.slices:
        yield from (*list_slices(view, full=full, rest=rest), Text())
    if view.suites:
        yield SuiteTable(view, most)
        yield from (*_more_line(len(view.suites) - most, "suite", rest), Text())
    if view.model_calls.rows:
        yield from (*_list_calls(view.model_calls, full=full), Text())
    if view.coverage is not None:
        yield from (*_list_coverage(view.coverage, full=full, rest=rest), Text())
    if view.variants:
        yield from (*render_variants(view.variants, full=full, rest=rest), Text())
    yield from _problems(view, rest, full=full, case_lines=case_lines)
    if view.drops:
        yield from (*list_drops(view, full=full), Text())
    yield from _exemption_lines(view.shown_exemptions, most=_ALL if full else _GATES)
    yield from _quarantine_lines(view, most=_ALL if full else _GATES)
    yield from map(_render_notice, view.notices)
    for change in view.policy_changes[: _ALL if full else _GATES]:
        yield hanging_indent(
            Text("note:", style="yellow"),
            Text(f"the gates differ from the baseline's: {safe_text(change)}", style="yellow"),
        )
    yield from _gate_lines(view, rest, most=_ALL if full else _GATES)
    yield _verdict_line(view)


def _render_notice(notice: str) -> RenderableType:
    return hanging_indent(Text("note:", style="cyan"), Text(safe_text(notice), style="cyan"))


def _list_coverage(coverage: CoverageView, *, full: bool, rest: str) -> Iterator[RenderableType]:
    """What the cases use of tools and prompts in one line, and the first that no case uses; `full`: all of these."""
    yield Text("tools and prompts that cases use: ", style="bold").append(coverage.summary, "not bold")
    most = _CALLS if full else _UNUSED
    for item in coverage.unused[:most]:
        title = " · ".join(filter(None, (item.name, item.detail)))
        place = Text(f"  {safe_text(item.place)}", style="dim") if item.kind != "prompt" else Text()
        yield hanging_indent(
            Text("unused:", style="yellow"), Text(f"{item.kind} {safe_text(title)}").append_text(place)
        )
    yield from _more_line(len(coverage.unused) - most, "unused item", rest)
    if coverage.doubt:
        yield Text(f"more may be used: {coverage.doubt}", style="dim")
    if coverage.unlisted:
        yield Text(f"called and not listed: {safe_text(coverage.unlisted_names)}", style="dim")


def _list_calls(table: CallsTable, *, full: bool) -> Iterator[RenderableType]:
    """The sums of all calls in one line; `full`: also a line for each suite, evaluator and model."""
    yield Text("calls of models: ", style="bold").append(table.summary, "not bold")
    if full:
        yield CallLines(table)
        if (hidden := len(table.rows) - _CALLS) > 0:
            yield Text(f"… {number_format.count(hidden, 'more row')}: see result.json", style="dim")


@record
class CallLines:
    """One line for each of the first rows; in a narrow terminal two."""

    table: CallsTable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the rows out for the width of the console."""
        rows = self.table.rows[:_CALLS]
        names = [[format_place(row.suite, row.evaluator) for row in rows], [safe_text(row.model) for row in rows]]
        columns = self._columns(rows)
        used = sum(max_width((title, *cells), options.max_width) + _GAP for title, cells in columns.items())
        if options.max_width - used >= sum(max_width(column, _NAME) + _GAP for column in names):
            grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
            for title in ("suite · evaluator", "model"):
                grid.add_column(title, overflow="fold")
            for title in columns:
                grid.add_column(title, justify="right", no_wrap=True)
            for index in range(len(rows)):
                cells = (column[index] for column in (*names, *columns.values()))
                grid.add_row(*map(Text, cells))
            yield grid
            return
        for index in range(len(rows)):
            yield Text(f"{names[0][index]}  {names[1][index]}")
            parts = (f"{title} {cells[index]}" for title, cells in columns.items() if cells[index] not in ("", NONE))
            yield Padding(Text("  ".join(parts)), _INDENT, expand=False)

    def _columns(self, rows: tuple[CallsRow, ...]) -> dict[str, list[str]]:
        columns = {name: [getattr(row, name) for row in rows] for name in ("calls", "tokens", "cost", "p50", "p95")}
        return columns | {heading.lower(): [row.rare(name) for row in rows] for name, heading in self.table.rare}


def _problems(
    view: ReportView, rest: str, *, full: bool = False, case_lines: int = MOST_LINES
) -> Iterator[RenderableType]:
    if view.failing:
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
        yield from (*_more_line(len(errors) - len(shown_errors), "error", rest), Text())


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


def _exemption_lines(exemptions: Sequence[ExemptionView], *, most: int) -> Iterator[RenderableType]:
    """A line for each entry that needs attention."""
    for each in exemptions[:most]:
        where = format_place(each.suite, each.evaluator)
        case = f" · {safe_text(each.case, 120)}" if each.case is not None else ""
        text = Text().append(each.title, "bold").append(f": {where}{case}: {safe_text(each.text)}")
        yield hanging_indent(mark(each.sign), text.append(f" ({safe_text(each.place)})", "dim"))
    if (hidden := len(exemptions) - most) > 0:
        yield Text(f"… {number_format.count(hidden, 'more exemption')}", style="dim")


def _quarantine_lines(view: ReportView, *, most: int) -> Iterator[RenderableType]:
    """A line for each case in quarantine."""
    if not view.quarantined:
        return
    count = number_format.count(len(view.quarantined), "case")
    yield Text(f"{count} in quarantine, {view.quarantine_effect}:", style="bold")
    for flaky in view.quarantined[:most]:
        change = f"{flaky.base_status} → {flaky.status}" if view.base else flaky.status
        stable = f" ({flaky.stability})" if flaky.stable else ""
        terms = f"until {flaky.until}, owner {safe_text(flaky.owner, 120)}: {safe_text(flaky.reason)}"
        line = Text(f"{format_place(flaky.suite, None)} · {safe_text(flaky.name)}: {change}{stable}  ")
        yield hanging_indent(mark(flaky.sign), line.append(terms, "dim"))
    if (hidden := len(view.quarantined) - most) > 0:
        yield Text(f"… {number_format.count(hidden, 'more case')}", style="dim")


def _gate_lines(view: ReportView, rest: str, *, most: int) -> Iterator[RenderableType]:
    for finding in view.warnings[:most]:
        yield hanging_indent(
            Text("warning:", style="yellow").append(" ").append_text(mark(finding.conclusion)), _gate_text(finding)
        )
    for finding in view.failed[:most]:
        yield hanging_indent(mark(finding.conclusion), _gate_text(finding))
        for advice in dict.fromkeys(each.advice for each in view.errors if _causes(each, finding)):
            yield Padding(Text(safe_text(advice), style="dim"), _INDENT, expand=False)
    yield from _more_line(len(view.failed) - most, "gate", rest)
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


def _more_line(hidden: int, noun: str, rest: str) -> Iterator[Text]:
    if hidden > 0:
        yield Text(f"… {number_format.count(hidden, f'more {noun}')}{rest}", style="dim")


def _verdict_line(view: ReportView) -> Table:
    totals, facts = view.totals, [safe_text(view.heading)]
    if totals.cases != totals.trials:
        facts.append(number_format.trials(totals.cases, totals.trials))
    if totals.pass_rate is not None:
        judged = totals.passed + totals.failed
        share = f"{number_format.percent(totals.pass_rate)}{totals.weights}"
        facts.append(f"{totals.passed:,} of {judged:,} pass ({share})")
    if view.base and totals.pass_rate is not None:
        note = f" ({totals.flips_text})" if totals.flips_text and not totals.flips_matter else ""
        facts.append(f"{totals.newly_failing:,} newly failing, {totals.newly_passing:,} newly passing{note}")
    if totals.with_errors:
        facts.append(f"{totals.with_errors:,} with errors")
    if totals.cost is not None:
        facts.append(number_format.cost(totals.cost))
    facts.append(number_format.duration(totals.duration_s))
    sign, color = MARKS[view.mark]
    style = Style.parse(color) + Style(bold=True)
    return hanging_indent(Text(sign, style=style), Text(f"scoregate: {' · '.join(facts)}", style=style))
