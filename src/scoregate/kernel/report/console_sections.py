"""The sections of the terminal report: failing cases with reasons, the table of evaluators, the table of suites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from scoregate.kernel.report.cases import FailedEvaluation, FailingCase, list_texts, take_snapshot
from scoregate.kernel.report.console_text import (
    MARKS,
    ClampedText,
    format_place,
    mark,
    mark_differences,
    max_width,
    safe_text,
)
from scoregate.kernel.report.conversations import ConversationView
from scoregate.kernel.report.rows import ReportState, RowView
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.number_format import NONE

_CASES, MOST_LINES, _MISSES, _DROPS = 10, 40, 5, 3
_GAP, _MARGIN = 2, 4
_EVALUATOR, _LEAST_REASON_WIDTH = 26, 44
_MAX_MESSAGE = 200
_MAX_TEXT = 2_000
_FEW, _MANY = 2, 60  # lines of a reason


@record
class FailingCases:
    """The worst failing cases, at most a screen; `see` says where the others are."""

    view: ReportView
    see: str
    most_lines: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the cases out for the width of the console."""
        yield _failing_heading(self.view)
        lines_left, shown_cases, worst = self.most_lines, 0, self.view.notable.failing[:_CASES]
        for case in worst:
            lines = console.render_lines(CaseDetails(case, worst), options, pad=False)
            lines_left -= len(lines)
            if lines_left < 0 and (shown_cases or not self.most_lines):
                break
            for line in lines:
                yield from (*line, Segment.line())
            shown_cases += 1
        if (hidden := self.view.notable.failing_total - shown_cases) > 0:
            yield Text(f"… {hidden:,} more{self.see}", style="dim")


def list_failing_cases(view: ReportView) -> Iterator[RenderableType]:
    """All failing cases with full reasons: the worst first, then the others in the order of the run."""
    yield _failing_heading(view)
    for case in view.notable.failing:
        yield CaseDetails(case, view.notable.failing, full=True)
    shown = {(case.suite, case.key) for case in view.notable.failing}
    if len(shown) >= sum(suite.counts.failed for suite in view.suites):
        return
    yield Text()
    noun = "cases" if view.totals.cases == view.totals.counts.trials else "trials"
    yield Text(f"other failing {noun}, in the order of the run:", style="bold")
    newly = set(view.notable.newly_failing)
    for other in view.trials.read():
        place = (view.suites[other.suite].label, other.key)
        if other.status is Status.FAILED and place not in shown:
            snapshot = take_snapshot(other)
            case = FailingCase(
                *place,
                snapshot.name,
                place in newly,
                0.0,
                tries="",
                misses=snapshot.misses,
                origin=snapshot.origin,
                texts=tuple(list_texts(snapshot)) if view.context.show_outputs else (),
            )
            yield CaseDetails(case, view.notable.failing, full=True)


def _failing_heading(view: ReportView) -> Text:
    total = view.notable.failing_total
    kind = "newly failing case" if view.has_newly_failing else "failing case"
    order = f", the {'largest drops' if view.has_newly_failing else 'lowest scores'} first"
    order += ", those of failed gates before others" if view.shows_failed_gates_first else ""
    order += ", suites in turn" if view.in_turn else ""
    return Text(f"{number_format.count(total, kind)}{order if total > 1 else ''}:", style="bold")


def list_drops(view: ReportView, *, full: bool) -> Iterator[RenderableType]:
    """The largest drops of scores without a threshold; `full`: all of them, with their whole texts."""
    other = ", of other cases" if view.notable.failing else ""
    yield Text(f"largest drops of scores without a threshold{other}:", style="bold")
    for drop in view.notable.drops if full else view.notable.drops[:_DROPS]:
        name = Text("↓ ", style="yellow").append(safe_text(drop.name), "bold default")
        yield name.append(f"  {safe_text(drop.suite)}", "dim default")
        if drop.texts:
            yield _indent(_text_table(drop.texts, full=full))
        for each in drop.scores:
            line = Text(f"{safe_text(each.evaluator)}  ").append(f"{each.before} → {each.now}", "yellow")
            yield _indent(line.append(f"  {safe_text(each.why)}" if each.why else ""))


@record
class CaseDetails:
    """One failing case; its columns align with those of the `others`. `full`: with the full reasons."""

    case: FailingCase
    others: Sequence[FailingCase]
    full: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the case out: reasons next to the scores if they fit, else below them."""
        case = self.case
        where = " · ".join(filter(None, (case.suite, case.place)))
        name = Text("✗ ", style="red").append(safe_text(case.name), "bold default")
        yield name.append(f"  {safe_text(where)}", "dim default")
        if case.texts:
            yield _indent(_text_table(case.texts, full=self.full))
        misses = case.misses if self.full else case.misses[:_MISSES]
        scores = self._scores(options.max_width)
        reason_width = options.max_width - sum(scores) - _GAP * len(scores) - _MARGIN
        if reason_width >= _LEAST_REASON_WIDTH:
            yield _indent(self._grid(misses, scores, reasons=True))
        else:
            for miss in misses:
                yield _indent(self._grid([miss], scores, reasons=False))
                if miss.why:
                    yield Padding(self._reason(miss), (0, 0, 0, _MARGIN + _GAP), expand=False)
        if hidden := len(case.misses) - len(misses):
            yield _indent(Text(f"… {number_format.count(hidden, 'evaluator')} more", style="dim"))
        for line in (
            *filter(None, (case.tries,)),
            *(_conversation_lines(case.conversation) if case.conversation else ()),
        ):
            yield _indent(Text(line, style="dim"))

    def _scores(self, width: int) -> tuple[int, int, int]:
        every = [miss for case in (*self.others, self.case) for miss in case.misses]
        evaluators = max_width((safe_text(miss.evaluator) for miss in every), max(min(_EVALUATOR, width // 3), 8))
        return evaluators, max_width(map(_format_score_change, every), 30), max_width(map(_format_threshold, every), 30)

    def _grid(self, misses: Iterable[FailedEvaluation], widths: Sequence[int], *, reasons: bool) -> Table:
        grid = Table.grid(padding=(0, _GAP, 0, 0))
        for width in widths:
            grid.add_column(width=width, overflow="fold")
        if reasons:
            grid.add_column()
        for miss in misses:
            cells = (
                Text(safe_text(miss.evaluator)),
                Text(_format_score_change(miss), style="red"),
                Text(_format_threshold(miss), style="dim"),
            )
            grid.add_row(*cells, *([self._reason(miss)] if reasons else []))
        return grid

    def _reason(self, miss: FailedEvaluation) -> ClampedText:
        if self.full:
            return ClampedText(Text("\n".join(miss.reasons)), _MANY)
        return ClampedText(Text(safe_text(miss.why)), _FEW)


def _text_table(texts: Iterable[tuple[str, str]], *, full: bool) -> Table:
    """Input, output and expected output; words of the last two that differ are marked."""
    limit, lines = (_MAX_TEXT, _MANY) if full else (_MAX_MESSAGE, _FEW)
    shown = {title: safe_text(text, limit) for title, text in texts}
    marked = mark_differences(shown.get("output", ""), shown.get("expected", shown.get("baseline", "")))
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for title, text in shown.items():
        content = marked.get(text, Text(text)) if title != "input" else Text(text)
        grid.add_row(title, ClampedText(content, lines))
    return grid


def _indent(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, _MARGIN), expand=False)


def _format_score_change(miss: FailedEvaluation) -> str:
    return miss.shown if miss.base is None else f"{number_format.short(miss.base)} → {miss.shown}"


def _format_threshold(miss: FailedEvaluation) -> str:
    return f"needs {miss.threshold}"


def _conversation_lines(conversation: ConversationView) -> Iterator[str]:
    if conversation.difference:
        yield f"{conversation.difference}:"
    for line in conversation.lines:
        if line.base is not None and line.base != line.now:
            yield f"  {line.turn} {line.role}, baseline: {safe_text(line.base, _MAX_MESSAGE)}"
        yield f"  {line.turn} {line.role}: {safe_text(line.now, _MAX_MESSAGE)}"
    yield (
        f"{conversation.summary}; baseline: {conversation.base_summary}"
        if conversation.base_summary
        else conversation.summary
    )


_TABLE_GAP = 2
_MARK = 1 + _TABLE_GAP
_NAME, _WORDS, _ROOMY = 26, 24, 40
_INDENT = (0, 0, 0, 4)


@record
class RowTable:
    """One line for each of the first evaluators, worst first; `~` means within noise."""

    view: ReportView
    most: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the table out for the width of the console: counts go first, then intervals, then the table."""
        rows = self.view.rows[: self.most]
        names = [format_place(row.row.suite, row.row.evaluator) for row in rows]
        least = _least_width(names)
        for columns, words in _row_layouts(rows, self.view):
            if _remaining_width(columns, options.max_width) - _MARK >= least + words:
                table = make_table("suite · scorer", columns, least)
                table.add_column("", overflow="fold")
                for index, (row, name) in enumerate(zip(rows, names, strict=True)):
                    cells = [texts[index] for texts in columns.values()]
                    table.add_row(mark(row.state), Text(name), *cells, explain_row(row, self.view))
                yield table
                return
        for row, name in zip(rows, names, strict=True):
            yield mark(row.state) + Text(f" {name}", style="default")
            scores = row.mean if row.row.base is None else f"{row.base} → {row.mean}"
            counts = f"better / worse {row.counts}" if row.row.pairs.n else ""
            line = Text("  ".join(filter(None, (scores, format_delta(row), counts))) + "  ")
            yield Padding(line.append_text(explain_row(row, self.view)), _INDENT, expand=False)


@record
class SuiteTable:
    """One line for each of the first suites, failed ones first: passed cases, latency, tokens, cost."""

    view: ReportView
    most: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the table out for the width of the console."""
        suites = self.view.ordered_suites[: self.most]
        names = [format_place(suite.label, None) for suite in suites]
        columns = {"pass": [Text(suite.passes) for suite in suites]}
        for title, measure in (("p50", "latency"), ("p95", "p95"), ("tokens", "tokens"), ("cost", "cost")):
            values = [(getattr(suite.spending.text, title), measure in suite.spending.changed) for suite in suites]
            if any(value != NONE for value, _ in values):  # bold: it differs significantly from the baseline
                columns[title] = [Text(value, style="bold" if moved else "") for value, moved in values]
        least = _least_width(names)
        if _remaining_width(columns, options.max_width) - _MARK >= least:
            table = make_table("suite", columns, least)
            for index, (suite, name) in enumerate(zip(suites, names, strict=True)):
                table.add_row(mark(suite.state), Text(name), *(cells[index] for cells in columns.values()))
            yield table
            return
        for index, (suite, name) in enumerate(zip(suites, names, strict=True)):
            yield mark(suite.state) + Text(f" {name}", style="default")
            parts = (f"{title} {cells[index].plain}" for title, cells in columns.items() if cells[index].plain != NONE)
            yield Padding(Text("  ".join(parts)), _INDENT, expand=False)


TableColumns = Mapping[str, Sequence[Text]]


def _remaining_width(columns: TableColumns, width: int) -> int:
    return width - sum(max_width((title, *cells), width) + _TABLE_GAP for title, cells in columns.items())


def _row_layouts(rows: Sequence[RowView], view: ReportView) -> Sequence[tuple[TableColumns, int]]:
    """The columns between name and explanation, the richest layout first, each with the width of the explanation."""
    now = [Text(row.mean) for row in rows]
    if not view.base:
        return [({"score": now}, _WORDS)]
    base, counts = [Text(row.base) for row in rows], [Text(row.counts) for row in rows]
    side = "PR" if view.context.pull_request else "now"
    delta = {"baseline": base, side: now, "delta": [Text(format_delta(row)) for row in rows]}
    short = {**delta, "delta": [Text(format_delta(row, interval=False)) for row in rows]}
    return [({**delta, "better / worse": counts}, _ROOMY), (delta, _ROOMY), (short, _WORDS)]


def _least_width(names: Sequence[str]) -> int:
    """The width that a column of names needs: lines break between their words, and inside of very long ones only."""
    return max(max_width(names, _NAME), max_width((word for name in names for word in name.split()), _ROOMY))


def make_table(things: str, columns: TableColumns, name_width: int = 0) -> Table:
    """A table without rows; names get at least `name_width`."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _TABLE_GAP, 0, 0))
    for title, width in (("", None), (things, name_width)):
        table.add_column(title, overflow="fold", min_width=width)
    for title in columns:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def format_delta(row: RowView, *, interval: bool = True) -> str:
    """The change; `~` within noise, empty without one."""
    if row.delta == NONE:
        return ""
    if not row.significant and not row.missed:
        return "~"
    return f"{row.delta} [{row.low}, {row.high}]" if row.low and interval else row.delta


def explain_row(row: RowView, view: ReportView) -> Text:
    """The label with its reason, and how many cases miss the threshold if a gate failed for that."""
    text = Text()
    if not view.base and row.row.mean is None:
        text.append(safe_text(row.note), "dim")
    if view.base:
        text.append(row.label, style=MARKS[row.state][1] if row.significant else None)
    if view.base and row.note:
        text.append(f" ({safe_text(row.note)})", style="dim")
    if row.below and row.state in (ReportState.FAILED, ReportState.NEW):
        text.append(f"{'; ' if text else ''}{row.missed_thresholds} below threshold")
    for value in row.uncertain:
        text.append(f"{'; ' if text else ''}{safe_text(value)}")
    return text
