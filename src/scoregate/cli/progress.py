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

from scoregate.cli.console import is_interactive
from scoregate.cli.output import Output
from scoregate.cli.progress_state import (
    PrintLine,
    ProgressDisplay,
    RefreshLimit,
    RunProgress,
    format_calls,
    format_cases,
    format_counts,
    format_output_line,
    format_suite,
)
from scoregate.cli.progress_table import ProgressTable, ProgressView
from scoregate.kernel.report.text import one_line
from scoregate.kernel.run.launch import Finished, LaunchEvent, Printed, Started
from scoregate.kernel.run.recording import Recording

_PER_SECOND = 8


@dataclass(slots=True)
class LiveDisplay:
    """A live view with lines above it. Any thread can add lines.

    Lines are printed together, a few times a second, because each print redraws the view.
    """

    console: Console
    view: RenderableType
    _lines: deque[Text] = field(default_factory=deque)
    _lock: Lock = field(default_factory=Lock)
    _line_widths: Sequence[int] = ()
    _width: int = 0

    def print_line(self, line: Text) -> None:
        """Print a line, or several, above the view."""
        self._lines.append(line)

    def open(self) -> Live:
        """Start drawing, as a context manager."""
        return _Live(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the view and remember the widths of its lines."""
        lines = console.render_lines(self.view, options.update(height=None), pad=False)
        self._line_widths = [Segment.get_line_length(line) for line in lines]
        for line in lines:
            yield from line
            yield Segment.line()

    def print_waiting_lines(self) -> bool:
        """Print the lines that were added; True if this redrew the view, too."""
        with self._lock:
            old_width, self._width = self._width, self.console.width
            if self._width < old_width:
                # The window became narrower, so lines of the view were wrapped: clear the added rows.
                added = sum(max(-(-width // self._width) - 1, 0) for width in self._line_widths)
                clear_row = (ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1))
                self.console.control(*([Control(*clear_row)] * added))
            # Not until none is left, since threads may add more all the time.
            lines = [self._lines.popleft() for _ in range(len(self._lines))]
            if lines:
                self.console.print(Text("\n").join(lines), soft_wrap=True)
            return bool(lines)


class _Live(Live):
    """Rich's live display, which prints the waiting lines whenever it draws."""

    def __init__(self, display: LiveDisplay) -> None:
        super().__init__(display, console=display.console, refresh_per_second=_PER_SECOND, transient=True)
        self._display = display

    def refresh(self) -> None:
        """Draw the view again."""
        if not self._display.print_waiting_lines():
            super().refresh()


_EVERY_S, _UPDATE_S = 15.0, 1.0


@dataclass(slots=True)
class ProgressLog:
    """Progress as lines: when a script starts, when a suite ends, every 15 s, and the output of scripts.

    The calls of models have a line every 15 s if they changed. `cases`: also a line for each finished case.
    """

    print_line: PrintLine
    cases: bool = False
    _progress: RunProgress = field(default_factory=RunProgress)
    _limit: RefreshLimit = field(default_factory=lambda: RefreshLimit(_UPDATE_S))
    _last_print: float = field(default_factory=monotonic)
    _recording: Recording | None = None
    _calls: str = ""

    def __call__(self, event: LaunchEvent, recording: Recording) -> None:
        if isinstance(event, Started):
            self._progress.begin(event.script, recording)
            self._recording = recording
            self._print(f"▸ {one_line(event.script, 200)}")
        elif isinstance(event, Printed):
            self.print_line(format_output_line(event.line))
        elif isinstance(event, Finished):
            self._update(recording)
            # Of this recording: the script may run in several trees at a time.
            for script, tally in recording.tallies():
                if script == event.script.name and not tally.finished:
                    self._print(f"  {format_counts(tally)}; it did not finish")
        else:
            if self.cases and recording.finished:
                self.print_line(format_cases(recording))
            self._recording = recording
            self.tick()

    def tick(self) -> None:
        """Print progress if it is time."""
        if self._recording is not None and self._limit.is_due():
            self._update(self._recording)

    def _update(self, recording: Recording) -> None:
        with self._limit.measure():
            for suite in self._progress.update(recording):
                self._print(f"  {format_suite(suite)}")
        if monotonic() - self._last_print > _EVERY_S:
            for suite in self._progress:
                if not suite.tally.finished:
                    self._print(f"  {format_suite(suite)} so far")
            self._print_calls()

    def _print_calls(self) -> None:
        self._progress.update_calls()
        calls = format_calls(self._progress.calls)
        if calls != self._calls:
            self._calls = calls
            self._print(f"  {calls} so far")

    def _print(self, text: str) -> None:
        self._last_print = monotonic()
        self.print_line(Text(text))


@contextmanager
def show_progress(output: Output) -> Iterator[ProgressDisplay]:
    """Show progress until the block ends."""
    console, options = output.console, output.options
    if options.quiet:
        yield ProgressDisplay(lambda *_: None, lambda _: None, lambda: None)
    elif is_interactive(console):
        progress = RunProgress()
        display = LiveDisplay(console, ProgressView(console, progress))
        with display.open():
            table = ProgressTable(display.print_line, options.verbose, progress)
            yield ProgressDisplay(table, display.print_line, table.tick)
    else:

        def print_line(text: Text) -> None:
            console.print(text, soft_wrap=True)

        log = ProgressLog(print_line, options.verbose)
        yield ProgressDisplay(log, print_line, log.tick)
