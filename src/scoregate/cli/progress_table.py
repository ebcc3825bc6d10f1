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

from scoregate.cli.progress_state import (
    STATES,
    PrintLine,
    RefreshLimit,
    RunProgress,
    SuiteProgress,
    format_calls,
    format_cases,
    format_clock,
    format_costs,
    format_means,
    format_output_line,
)
from scoregate.kernel.report.text import display_name
from scoregate.kernel.run.launch import Finished, LaunchEvent, Printed, Started
from scoregate.kernel.run.recording import Recording
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import Status

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


def draw_table(suites: Iterable[SuiteProgress], *, width: int, height: int) -> Table:
    """Draw a row for each suite, with a line for each evaluator if there is space.

    If the terminal is too narrow, scores go first, then the ends of names, never numbers.
    """
    # Running suites first, since the last rows may not fit.
    ordered = sorted(suites, key=lambda each: each.tally.finished)
    most_rows = max(height - 1, 2)  # one row is the heading
    shown = ordered[: most_rows if len(ordered) <= most_rows else most_rows - 1]
    cells = [_number_cells(each) for each in shown]
    more = f"… and {len(ordered) - len(shown):,} more" if len(ordered) > len(shown) else ""
    names = [*(display_name(each.tally.label) for each in shown), more]
    columns, label, scores = _layout(names, cells, width)
    is_tall = sum(max(1, len([*format_means(each.tally), *format_costs(each.tally)])) for each in shown) <= most_rows
    grid = _empty_table(columns, label)
    for each, row in zip(shown, cells, strict=True):
        parts = (*format_means(each.tally, scores), *format_costs(each.tally))
        score_cell = Text(("\n" if is_tall else " · ").join(parts), no_wrap=True)
        if not is_tall:
            score_cell.truncate(scores, overflow="ellipsis")
        all_cells = {**row, _SCORES: score_cell}
        mark = Text("·")
        if each.tally.finished:
            styles = [
                style for status, (_, style) in STATES.items() if style != "green" and each.tally.states.get(status)
            ]
            mark = Text("✗", style=styles[0]) if styles else Text("✓", style="green")
        grid.add_row(mark, Text(display_name(each.tally.label)), *(all_cells[column] for column in columns))
    if more:
        grid.add_row("", Text(more, style="dim"))
    return grid


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
    name_width = min(longest, _NARROW_NAME)
    for columns in _COLUMNS:
        numbers = [each for each in columns if each != _SCORES]
        used = sum(max(map(cell_len, (each, *(row[each].plain for row in cells)))) for each in numbers)
        left = width - 1 - used - _GAP * (len(columns) + 1)
        score_width = _FEWEST_SCORES if _SCORES in columns else 0
        if left - score_width >= name_width:
            break
    label = max(min(longest, _WIDEST_NAME, left // 2 if score_width else left, left - score_width), _NARROWEST_NAME)
    return columns, max(label, min(name_width, left - score_width)), max(left - label, score_width)


def _number_cells(suite: SuiteProgress) -> dict[str, Text]:
    tally = suite.tally
    done = f"{tally.done:,}" if tally.planned in (None, tally.done) else f"{tally.done:,}/{tally.planned:,}"
    row = {"done": Text(done), "time": Text(suite.time, style="dim")}
    for status, (heading, style) in STATES.items():
        count = tally.states.get(status, 0)
        row[heading] = Text(f"{count:,}", style=style if count else "dim")
    return row


_SOONEST_S, _FEWEST = 5.0, 3
_EDGE = 4  # space for what the terminal echoes when a key is pressed, such as ^C


def draw_status_line(progress: RunProgress, started: float, *, width: int, plain: bool = False) -> Text:
    """`⠹ 42 s · 120 of 400 cases · 12 failed · about 1 m 5 s left · script 3 of 8`, cut if it is too long.

    Args:
        progress: the progress of all suites.
        started: when the run started, by the monotonic clock.
        width: the width of the terminal.
        plain: use ASCII only.
    """
    now = monotonic()
    spinner = Spinner("line" if plain else "dots")
    frame = spinner.frames[int(1000 * now / spinner.interval) % len(spinner.frames)]
    line = Text().append(frame, "cyan").append(f" {format_clock(now - started)}", "default")
    for part, style in _status_parts(progress, now):
        if line.cell_len + 3 + len(part) > width - _EDGE:
            break
        line.append(" - " if plain else " · ", "dim").append(part, style)
    return line


def _status_parts(progress: RunProgress, now: float) -> Iterator[tuple[str, str]]:
    suites = list(progress)
    if not suites:
        yield _waiting(progress), "dim"
        return
    yield _format_done(suites), "default"
    if failed := _count(suites, Status.FAILED):
        yield f"{failed:,} failed", "red"
    if errors := _count(suites, Status.ERRORED):
        yield number_format.count(errors, "error"), "yellow"
    if progress.ended == progress.launches:
        yield "comparing", "dim"
    elif left := _estimate_seconds_left(suites, progress, now):
        yield f"about {format_clock(left)} left", "default"
    if progress.launches > 1:
        yield f"{progress.ended} of {progress.launches} scripts", "dim"


def _waiting(progress: RunProgress) -> str:
    running = progress.began - progress.ended
    return f"{number_format.count(running, 'script')} running, no suite started yet" if running else "preparing"


def _format_done(suites: Sequence[SuiteProgress]) -> str:
    done = sum(each.tally.done for each in suites)
    planned = [each.tally.planned for each in suites]
    known = [count for count in planned if count is not None]
    if len(known) < len(planned) or sum(known) <= done:
        return number_format.count(done, "case")
    return f"{done:,} of {number_format.count(sum(known), 'case')}"


def _count(suites: Sequence[SuiteProgress], status: Status) -> int:
    return sum(each.tally.states.get(status, 0) for each in suites)


def _estimate_seconds_left(suites: Sequence[SuiteProgress], progress: RunProgress, now: float) -> float | None:
    """Seconds left; None until every script runs, and every suite reported its number of cases and finished some."""
    running = [each for each in suites if not each.tally.finished]
    if not running or progress.began < progress.launches:
        return None
    longest = 0.0
    for each in running:
        tally, elapsed = each.tally, now - each.started
        if tally.planned is None or tally.done < _FEWEST or elapsed < _SOONEST_S:
            return None
        longest = max(longest, elapsed / tally.done * max(tally.planned - tally.done, 0))
    return longest


_UPDATE_S = 0.1
_CURSOR_ROWS = 1  # the row below the last line


@dataclass(slots=True)
class ProgressTable:
    """An observer that updates the live table and prints the output of scripts; `cases`: also each finished case."""

    print_line: PrintLine
    cases: bool
    _progress: RunProgress
    _limit: RefreshLimit = field(default_factory=lambda: RefreshLimit(_UPDATE_S))
    _recording: Recording | None = None

    def __call__(self, event: LaunchEvent, recording: Recording) -> None:
        if isinstance(event, Printed):
            self.print_line(format_output_line(event.line))
            return
        if isinstance(event, Started):
            self._progress.begin(event.script, recording)
            return
        if self.cases and recording.finished:
            self.print_line(format_cases(recording))
        self._recording = recording
        if isinstance(event, Finished):
            self._progress.end()
            self._update(recording)
        self.tick()

    def tick(self) -> None:
        """Update the table if there is something new and it is time."""
        if (self._recording is not None or self._progress.counts_calls) and self._limit.is_due():
            self._update(self._recording)

    def _update(self, recording: Recording | None) -> None:
        self._recording = None
        with self._limit.measure():
            self._progress.update_calls()
            if recording is not None:
                list(self._progress.update(recording))  # a generator: it updates only while it is read


@dataclass(slots=True)
class ProgressView:
    """The table, the calls of models, and the status line. Rows that don't fit into the window are left out."""

    console: Console
    progress: RunProgress
    _started: float = field(default_factory=monotonic)

    def __rich__(self) -> RenderableType:
        width, height = self.console.width, self.console.height
        plain = not self.console.encoding.startswith("utf")  # other encodings may lack ⠹ and ·
        status_line = draw_status_line(self.progress, self._started, width=width, plain=plain)
        lines = [*draw_calls(self.progress, width=width, plain=plain), status_line]
        if any(self.progress):
            return Group(draw_table(self.progress, width=width, height=height - len(lines) - _CURSOR_ROWS), *lines)
        return Group(*lines)


def draw_calls(progress: RunProgress, *, width: int, plain: bool = False) -> list[Text]:
    """The line about calls of models, cut if it is too long; nothing before the first call."""
    text = format_calls(progress.calls, " - " if plain else " · ")
    line = Text(text, "dim", no_wrap=True)
    line.truncate(max(width - _EDGE, 1), overflow="ellipsis")
    return [line] if text else []
