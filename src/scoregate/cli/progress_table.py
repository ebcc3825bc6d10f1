"""The live table of suites and the status line below it, redrawn in place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from scoregate.ci.launch import Finished, LaunchEvent, Printed, Started
from scoregate.ci.recording import Recording
from scoregate.ci.report import numbers
from scoregate.ci.report.text import display_name
from scoregate.cli.progress_state import (
    STATES,
    PrintLine,
    RefreshLimit,
    RunProgress,
    SuiteProgress,
    format_cases,
    format_clock,
    format_costs,
    format_means,
    format_output_line,
)
from scoregate.core.cases import Status
from scoregate.core.reducer import Tally

_SCORES = "mean scores"
_FEWEST_SCORES = 16
_WIDEST_NAME, _NARROW_NAME, _NARROWEST_NAME = 44, 16, 5
_GAP = 2
_STATES = tuple(heading for heading, _ in STATES.values())
# The columns for narrower and narrower terminals.
_COLUMNS = (
    ("done", *_STATES, "time", _SCORES),
    ("done", *_STATES, "time"),
    ("done", *_STATES[1:], "time"),
    ("done", *_STATES[1:]),
)


def draw_table(standings: Iterable[SuiteProgress], *, width: int, height: int) -> Table:
    """Draw a row for each suite, with a line for each evaluator if there is space.

    If the terminal is too narrow, scores go first, then the ends of names, never numbers.
    """
    every = sorted(standings, key=lambda each: each.tally.finished)
    most_rows = max(height - 1, 2)
    shown = every[: most_rows if len(every) <= most_rows else most_rows - 1]
    cells = [_number_cells(each) for each in shown]
    more = f"… and {len(every) - len(shown):,} more" if len(every) > len(shown) else ""
    names = [*(display_name(each.tally.label) for each in shown), more]
    columns, label, scores = _layout(names, cells, width)
    tall = sum(max(1, len([*format_means(each.tally), *format_costs(each.tally)])) for each in shown) <= most_rows
    grid = _empty_table(columns, label)
    for each, row in zip(shown, cells, strict=True):
        all_cells = {**row, _SCORES: _score_cell(each.tally, scores, tall=tall)}
        grid.add_row(
            _mark(each.tally), Text(display_name(each.tally.label)), *(all_cells[column] for column in columns)
        )
    if more:
        grid.add_row("", Text(more, style="dim"))
    return grid


def _mark(tally: Tally) -> Text:
    if not tally.finished:
        return Text("·")
    wrong = [style for status, (_, style) in STATES.items() if style != "green" and tally.states.get(status)]
    return Text("✗", style=wrong[0]) if wrong else Text("✓", style="green")


def _empty_table(columns: Sequence[str], label: int) -> Table:
    grid = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    grid.add_column("", width=1)
    grid.add_column("suite", width=label, no_wrap=True, overflow="ellipsis")
    for heading in columns:
        grid.add_column(heading, justify="left" if heading == _SCORES else "right", no_wrap=True)
    return grid


def _layout(names: Sequence[str], cells: Sequence[Mapping[str, Text]], width: int) -> tuple[Sequence[str], int, int]:
    """The columns, and the widths of a suite's name and of its scores; numbers get the width they need."""
    longest = max(map(cell_len, names))
    wanted = min(longest, _NARROW_NAME)
    for columns in _COLUMNS:
        numbers = [each for each in columns if each != _SCORES]
        taken = sum(max(map(cell_len, (each, *(row[each].plain for row in cells)))) for each in numbers)
        left = width - 1 - taken - _GAP * (len(columns) + 1)
        least = _FEWEST_SCORES if _SCORES in columns else 0
        if left - least >= wanted:
            break
    label = max(min(longest, _WIDEST_NAME, left // 2 if least else left, left - least), _NARROWEST_NAME)
    return columns, max(label, min(wanted, left - least)), max(left - label, least)


def _number_cells(standing: SuiteProgress) -> dict[str, Text]:
    tally = standing.tally
    done = f"{tally.done:,}" if tally.planned in (None, tally.done) else f"{tally.done:,}/{tally.planned:,}"
    row = {"done": Text(done), "time": Text(standing.time, style="dim")}
    for status, (heading, style) in STATES.items():
        count = tally.states.get(status, 0)
        row[heading] = Text(f"{count:,}", style=style if count else "dim")
    return row


def _score_cell(tally: Tally, width: int, *, tall: bool) -> Text:
    text = Text(("\n" if tall else " · ").join((*format_means(tally, width), *format_costs(tally))), no_wrap=True)
    if not tall:
        text.truncate(width, overflow="ellipsis")
    return text


_SOONEST_S, _FEWEST = 5.0, 3
_EDGE = 4  # space for what the terminal echoes when a key is pressed, such as ^C


def draw_status_line(standings: RunProgress, started: float, *, width: int, plain: bool = False) -> Text:
    """`⠹ 42 s · 120 of 400 cases · 12 failed · about 1 m 5 s left · script 3 of 8`, cut where it does not fit.

    Args:
        standings: the progress of all suites.
        started: when the run started, by the monotonic clock.
        width: the width of the terminal.
        plain: use ASCII only.
    """
    now = monotonic()
    spinner = Spinner("line" if plain else "dots")
    frame = spinner.frames[int(1000 * now / spinner.interval) % len(spinner.frames)]
    line = Text().append(frame, "cyan").append(f" {format_clock(now - started)}", "default")
    for part, style in _status_parts(standings, now):
        if line.cell_len + 3 + len(part) > width - _EDGE:
            break
        line.append(" - " if plain else " · ", "dim").append(part, style)
    return line


def _status_parts(standings: RunProgress, now: float) -> Iterator[tuple[str, str]]:
    every = list(standings)
    if not every:
        yield _waiting(standings), "dim"
        return
    yield _format_done(every), "default"
    if failed := _count(every, Status.FAILED):
        yield f"{failed:,} failed", "red"
    if errors := _count(every, Status.ERRORED):
        yield numbers.count(errors, "error"), "yellow"
    if standings.ended == standings.launches:
        yield "comparing", "dim"
    elif left := _estimate_seconds_left(every, standings, now):
        yield f"about {format_clock(left)} left", "default"
    if standings.launches > 1:
        yield f"{standings.ended} of {standings.launches} scripts", "dim"


def _waiting(standings: RunProgress) -> str:
    running = standings.began - standings.ended
    return f"{numbers.count(running, 'script')} running, no suite started yet" if running else "preparing"


def _format_done(every: Sequence[SuiteProgress]) -> str:
    done = sum(each.tally.done for each in every)
    planned = [each.tally.planned for each in every]
    known = [count for count in planned if count is not None]
    if len(known) < len(planned) or sum(known) <= done:
        return numbers.count(done, "case")
    return f"{done:,} of {numbers.count(sum(known), 'case')}"


def _count(every: Sequence[SuiteProgress], status: Status) -> int:
    return sum(each.tally.states.get(status, 0) for each in every)


def _estimate_seconds_left(every: Sequence[SuiteProgress], standings: RunProgress, now: float) -> float | None:
    """Seconds left; None until every script runs, and every suite reported its number of cases and finished some."""
    running = [each for each in every if not each.tally.finished]
    if not running or standings.began < standings.launches:
        return None
    longest = 0.0
    for each in running:
        tally, so_far = each.tally, now - each.started
        if tally.planned is None or tally.done < _FEWEST or so_far < _SOONEST_S:
            return None
        longest = max(longest, so_far / tally.done * max(tally.planned - tally.done, 0))
    return longest


_LOOK_S = 0.1
_PULSE_ROWS = 2  # its own, and the one that the cursor may fall into


@dataclass(slots=True)
class ProgressTable:
    """An observer that updates the live table and prints the output of scripts; `cases`: also each finished case."""

    say: PrintLine
    cases: bool
    _standings: RunProgress
    _pace: RefreshLimit = field(default_factory=lambda: RefreshLimit(_LOOK_S))
    _unseen: Recording | None = None

    def __call__(self, happening: LaunchEvent, recording: Recording) -> None:
        if isinstance(happening, Printed):
            self.say(format_output_line(happening.line))
            return
        if isinstance(happening, Started):
            self._standings.begin(happening.script, recording)
            return
        if self.cases and recording.finished:
            self.say(format_cases(recording))
        self._unseen = recording
        if isinstance(happening, Finished):
            self._standings.end()
            self._look(recording)
        self.tick()

    def tick(self) -> None:
        """Update the table if there are new events and it is time."""
        if self._unseen is not None and self._pace.is_due():
            self._look(self._unseen)

    def _look(self, recording: Recording) -> None:
        self._unseen = None
        with self._pace.taken():
            list(self._standings.update(recording))


@dataclass(slots=True)
class ProgressView:
    """The table and the status line, as much as the window holds."""

    console: Console
    standings: RunProgress
    _started: float = field(default_factory=monotonic)

    def __rich__(self) -> RenderableType:
        width, height = self.console.width, self.console.height
        plain = not self.console.encoding.startswith("utf")
        below = draw_status_line(self.standings, self._started, width=width, plain=plain)
        if not any(self.standings):
            return below
        return Group(draw_table(self.standings, width=width, height=height - _PULSE_ROWS), below)
