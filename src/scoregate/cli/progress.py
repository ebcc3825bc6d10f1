"""Progress while scripts run: a live table on a terminal, lines in a log, or nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType, Segment
from rich.text import Text

from scoregate.ci.launch import Finished, LaunchEvent, Printed, Started
from scoregate.ci.recording import Recording
from scoregate.ci.report.text import one_line
from scoregate.cli.output import Output, is_interactive
from scoregate.cli.progress_state import (
    PrintLine,
    ProgressDisplay,
    RefreshLimit,
    RunProgress,
    format_cases,
    format_counts,
    format_output_line,
    format_suite,
)
from scoregate.cli.progress_table import ProgressTable, ProgressView

_PER_SECOND = 8


@dataclass(slots=True)
class LiveDisplay:
    """A live view with lines above it. Lines can come from any thread.

    They are printed together, a few times a second, since each print redraws the table.
    """

    console: Console
    drawing: RenderableType
    _waiting: deque[Text] = field(default_factory=deque)
    _lock: Lock = field(default_factory=Lock)
    _drawn: Sequence[int] = ()
    _width: int = 0

    def say(self, line: Text) -> None:
        """Print a line, or several, above the view."""
        self._waiting.append(line)

    def open(self) -> Live:
        """Start drawing, as a context manager."""
        return _Live(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the view and remember the widths of its lines."""
        lines = console.render_lines(self.drawing, options.update(height=None), pad=False)
        self._drawn = [Segment.get_line_length(line) for line in lines]
        for line in lines:
            yield from line
            yield Segment.line()

    def step(self) -> bool:
        """Print the waiting lines; True if this redrew the view, too."""
        with self._lock:
            self._make_room()
            lines = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if lines:
                self.console.print(Text("\n").join(lines), soft_wrap=True)
            return bool(lines)

    def _make_room(self) -> None:
        """If the window became narrower, its lines were wrapped: clear the added rows."""
        before, self._width = self._width, self.console.width
        if self._width < before:
            added = sum(max(-(-cells // self._width) - 1, 0) for cells in self._drawn)
            up = (ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1))
            self.console.control(*([Control(*up)] * added))


class _Live(Live):
    """Rich's live display, which prints the waiting lines whenever it draws."""

    def __init__(self, display: LiveDisplay) -> None:
        super().__init__(display, console=display.console, refresh_per_second=_PER_SECOND, transient=True)
        self._display = display

    def refresh(self) -> None:
        """Draw the view again."""
        if not self._display.step():
            super().refresh()


_EVERY_S, _LOOK_S = 15.0, 1.0


@dataclass(slots=True)
class ProgressLog:
    """Progress as lines: when a script starts, when a suite ends, every 15 s, and the output of scripts.

    `cases`: also a line for each finished case.
    """

    say: PrintLine
    cases: bool = False
    _standings: RunProgress = field(default_factory=RunProgress)
    _pace: RefreshLimit = field(default_factory=lambda: RefreshLimit(_LOOK_S))
    _told: float = field(default_factory=monotonic)
    _seen: Recording | None = None

    def __call__(self, happening: LaunchEvent, recording: Recording) -> None:
        if isinstance(happening, Started):
            self._standings.begin(happening.script, recording)
            self._say(f"▸ {one_line(happening.script, 200)}")
        elif isinstance(happening, Printed):
            self.say(format_output_line(happening.line))
        elif isinstance(happening, Finished):
            self._look(recording)
            for standing in self._standings.of(happening.script.name):
                if not standing.tally.finished:
                    self._say(f"  {format_counts(standing.tally)}; it did not finish")
        else:
            if self.cases and recording.finished:
                self.say(format_cases(recording))
            self._seen = recording
            self.tick()

    def tick(self) -> None:
        """Print progress if it is time."""
        if self._seen is not None and self._pace.is_due():
            self._look(self._seen)

    def _look(self, recording: Recording) -> None:
        with self._pace.taken():
            for standing in self._standings.update(recording):
                self._say(f"  {format_suite(standing)}")
        if monotonic() - self._told > _EVERY_S:
            for standing in self._standings:
                if not standing.tally.finished:
                    self._say(f"  {format_suite(standing)} so far")

    def _say(self, text: str) -> None:
        self._told = monotonic()
        self.say(Text(text))


@contextmanager
def show_progress(output: Output) -> Iterator[ProgressDisplay]:
    """Show progress until the block ends."""
    console, options = output.console, output.options
    if options.quiet:
        yield ProgressDisplay(lambda *_: None, lambda _: None, lambda: None)
    elif is_interactive(console):
        standings = RunProgress()
        display = LiveDisplay(console, ProgressView(console, standings))
        with display.open():
            board = ProgressTable(display.say, options.verbose, standings)
            yield ProgressDisplay(board, display.say, board.tick)
    else:

        def say(text: Text) -> None:
            console.print(text, soft_wrap=True)

        plain = ProgressLog(say, options.verbose)
        yield ProgressDisplay(plain, say, plain.tick)
