"""What is seen while scripts run: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from scoregate.ci.github.commands import harmless_marks
from scoregate.ci.launch import Began, Ended, Happening, Printed
from scoregate.ci.recording import Observer, Recording
from scoregate.ci.report.text import excerpt, one_line
from scoregate.cli.board import table
from scoregate.cli.standings import Standings, counts, line

_EVERY_S = 15.0
_LOOK_S, _DRAW_S = 1.0, 0.1
_LONGEST_LINE = 2_000
_SHARE = 20  # of our time at most one part in so many goes into looking


@contextmanager
def progress(console: Console) -> Iterator[Observer]:
    """An observer that shows on `console` what happens, for as long as the block lasts."""
    if not console.is_terminal:
        yield _Plain(console)
        return
    board = _Board(console)
    with Live(board, console=console, refresh_per_second=8, transient=True):
        yield board


@dataclass(slots=True)
class _Pace:
    """Says when to look again: not too often, and more seldom the longer a look takes."""

    every_s: float
    _next: float = 0.0

    def is_due(self) -> bool:
        return monotonic() >= self._next

    @contextmanager
    def taken(self) -> Iterator[None]:
        started = monotonic()
        yield
        now = monotonic()
        self._next = now + max(self.every_s, _SHARE * (now - started))


@dataclass(slots=True)
class _Plain:
    """A line when a script begins, a suite ends, one now and then between, and what scripts print."""

    console: Console
    _standings: Standings = field(default_factory=Standings)
    _pace: _Pace = field(default_factory=lambda: _Pace(_LOOK_S))
    _told: float = field(default_factory=monotonic)

    def __call__(self, happening: Happening, recording: Recording) -> None:
        if isinstance(happening, Began):
            self._standings.forget(happening.script)
            self._say(f"▸ {one_line(happening.script, 200)}")
        elif isinstance(happening, Printed):
            say(self.console, happening.line)
        elif isinstance(happening, Ended):
            self._look(recording)
            for standing in self._standings.of(happening.script.name):
                if not standing.tally.finished:
                    self._say(f"  {counts(standing.tally)}; it never finished")
        elif self._pace.is_due():
            self._look(recording)

    def _look(self, recording: Recording) -> None:
        with self._pace.taken():
            for standing in self._standings.update(recording):
                self._say(f"  {line(standing)}")
        if monotonic() - self._told > _EVERY_S:
            for standing in self._standings:
                if not standing.tally.finished:
                    self._say(f"  {line(standing)} so far")

    def _say(self, text: str) -> None:
        self._told = monotonic()
        self.console.print(Text(text), soft_wrap=True)


@dataclass(slots=True)
class _Board:
    """A row for each suite, redrawn in place, with the scripts' own output above it."""

    console: Console
    _standings: Standings = field(default_factory=Standings)
    _pace: _Pace = field(default_factory=lambda: _Pace(_DRAW_S))

    def __call__(self, happening: Happening, recording: Recording) -> None:
        if isinstance(happening, Printed):
            say(self.console, happening.line)
        elif isinstance(happening, Began):
            self._standings.forget(happening.script)
        elif self._pace.is_due() or isinstance(happening, Ended):
            with self._pace.taken():
                list(self._standings.update(recording))

    def __rich__(self) -> RenderableType:
        if not any(self._standings):
            return Text("no suite has been heard of yet", style="dim")
        return table(self._standings, width=self.console.width, height=self.console.height)


def say(console: Console, line: str) -> None:
    """Show a line that somebody else printed, set apart so that nothing in it is taken for ours or for CI's command.

    It keeps its indentation and is not broken; what would steer a terminal is taken out.
    """
    seen = excerpt(line, _LONGEST_LINE).replace("\n", " ").expandtabs(4)
    console.print(Text(f"  | {harmless_marks(seen)}", style="dim"), soft_wrap=True)
