"""The failing cases in the terminal: each with the evaluators that it failed, their scores in columns, the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from scoregate.ci.report import numbers
from scoregate.ci.report.case_views import FailingCase
from scoregate.ci.report.console_text import Clamped, shown, widest
from scoregate.ci.report.harvest import Miss, snapshot
from scoregate.ci.report.talks import TalkView
from scoregate.ci.report.view import ReportView
from scoregate.core.case import CaseKey, CaseResult, Status

_CASES, _LINES, _MISSES = 10, 40, 5
_GAP, _MARGIN = 2, 4
_EVALUATOR, _BESIDE = 26, 44
_SAID = 200
_FEW, _MANY = 2, 60  # lines of a reason


@dataclass(frozen=True, slots=True)
class Failing:
    """The worst, as many as fill no more than a screen; `see` says where there are more."""

    view: ReportView
    see: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay them out for the width that there is."""
        yield _heading(self.view)
        room, shown_cases, worst = _LINES, 0, self.view.failing[:_CASES]
        for case in worst:
            lines = console.render_lines(Case(case, worst), options, pad=False)
            room -= len(lines)
            if room < 0 and shown_cases:
                break
            for line in lines:
                yield from (*line, Segment.line())
            shown_cases += 1
        if (hidden := self.view.failing_total - shown_cases) > 0:
            yield Text(f"… {hidden:,} more{self.see}", style="dim")


def every(view: ReportView) -> Iterator[RenderableType]:
    """All of them with all that is told: the worst first, then the others as they ran, read from disk one by one."""
    yield _heading(view)
    for case in view.failing:
        yield Case(case, view.failing, whole=True)
    told = {(case.suite, case.key) for case in view.failing}
    if len(told) >= sum(suite.failed for suite in view.suites):
        return
    yield Text()
    yield Text("the other failing cases, as they ran:", style="bold")
    newly = set(view.newly_failing)
    for other in view.cases():
        place = (view.suites[other.suite].label, other.key)
        if other.status is Status.FAILED and place not in told:
            yield Case(_plainly(other, place, newly=place in newly), view.failing, whole=True)


def _plainly(case: CaseResult, place: tuple[str, CaseKey], *, newly: bool) -> FailingCase:
    seen = snapshot(case)
    return FailingCase(*place, seen.name, newly, 0.0, "", seen.misses, origin=seen.origin)


def _heading(view: ReportView) -> Text:
    kind = "newly failing case" if view.newly else "failing case"
    order = ", the largest drops first" if view.newly else ", the lowest scores first"
    order += ", suites in turn" if view.in_turn else ""
    return Text(f"{numbers.count(view.failing_total, kind)}{order if view.failing_total > 1 else ''}:", style="bold")


@dataclass(frozen=True, slots=True)
class Case:
    """One; its columns are as wide as those of the `others` beside it need. `whole`: with every word of the reasons."""

    case: FailingCase
    others: Sequence[FailingCase]
    whole: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out: reasons stand beside the scores where there is room, else below them."""
        case = self.case
        yield _name(case)
        misses = case.misses if self.whole else case.misses[:_MISSES]
        scores = self._scores(options.max_width)
        beside = options.max_width - sum(scores) - _GAP * len(scores) - _MARGIN
        if beside >= _BESIDE:
            yield _indented(self._grid(misses, scores, reasons=True))
        else:
            for miss in misses:
                yield _indented(self._grid([miss], scores, reasons=False))
                yield from self._below(miss)
        if hidden := len(case.misses) - len(misses):
            yield _indented(Text(f"… {numbers.count(hidden, 'evaluator')} more", style="dim"))
        for line in (*filter(None, (case.tries,)), *(_talk(case.talk) if case.talk else ())):
            yield _indented(Text(line, style="dim"))

    def _scores(self, width: int) -> tuple[int, int, int]:
        every = [miss for case in (*self.others, self.case) for miss in case.misses]
        evaluators = widest((shown(miss.evaluator) for miss in every), max(min(_EVALUATOR, width // 3), 8))
        return evaluators, widest(map(_moved, every), 30), widest(map(_needs, every), 30)

    def _grid(self, misses: Iterable[Miss], widths: Sequence[int], *, reasons: bool) -> Table:
        grid = Table.grid(padding=(0, _GAP, 0, 0))
        for width in widths:
            grid.add_column(width=width, overflow="fold")
        if reasons:
            grid.add_column()
        for miss in misses:
            cells = (Text(shown(miss.evaluator)), Text(_moved(miss), style="red"), Text(_needs(miss), style="dim"))
            grid.add_row(*cells, *([self._reason(miss)] if reasons else []))
        return grid

    def _below(self, miss: Miss) -> Iterator[RenderableType]:
        if miss.why:
            yield Padding(self._reason(miss), (0, 0, 0, _MARGIN + _GAP), expand=False)

    def _reason(self, miss: Miss) -> Clamped:
        if self.whole:
            return Clamped(Text("\n".join(miss.reasons)), _MANY)
        return Clamped(Text(shown(miss.why)), _FEW)


def _name(case: FailingCase) -> Text:
    where = " · ".join(filter(None, (case.suite, case.place)))
    return Text("✗ ", style="red").append(shown(case.name), "bold default").append(f"  {shown(where)}", "dim default")


def _indented(held: RenderableType) -> Padding:
    return Padding(held, (0, 0, 0, _MARGIN), expand=False)


def _moved(miss: Miss) -> str:
    return miss.shown if miss.base is None else f"{numbers.short(miss.base)} → {miss.shown}"


def _needs(miss: Miss) -> str:
    return f"needs {miss.threshold}"


def _talk(talk: TalkView) -> Iterator[str]:
    if talk.told:
        yield f"{talk.told}:"
    for line in talk.lines:
        if line.base is not None and line.base != line.now:
            yield f"  {line.turn} {line.who}, in the base: {shown(line.base, _SAID)}"
        yield f"  {line.turn} {line.who}: {shown(line.now, _SAID)}"
    yield f"{talk.course}; in the base {talk.base_course}" if talk.base_course else talk.course
