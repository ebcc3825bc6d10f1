"""What a terminal shows of a run: a table of suites, redrawn in place, with what scripts print above it."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from rich.console import Console, Group, RenderableType

from scoregate.ci.launch import Began, Ended, Happening, Printed
from scoregate.ci.recording import Recording
from scoregate.cli.board import table
from scoregate.cli.case_lines import case_lines
from scoregate.cli.pulse import pulse
from scoregate.cli.standings import Standings
from scoregate.cli.watching import Pace, Say, printed

_LOOK_S = 0.1
_PULSE_ROWS = 2  # its own, and the one that the cursor may fall into


@dataclass(slots=True)
class Board:
    """Keeps what is drawn up to date, and says the rest; `cases`: each as it finishes."""

    say: Say
    cases: bool
    _standings: Standings
    _pace: Pace = field(default_factory=lambda: Pace(_LOOK_S))
    _unseen: Recording | None = None

    def __call__(self, happening: Happening, recording: Recording) -> None:
        if isinstance(happening, Printed):
            self.say(printed(happening.line))
            return
        if isinstance(happening, Began):
            self._standings.begin(happening.script, recording)
            return
        if self.cases and recording.finished:
            self.say(case_lines(recording))
        self._unseen = recording
        if isinstance(happening, Ended):
            self._standings.end()
            self._look(recording)
        self.tick()

    def tick(self) -> None:
        """Look again, where something happened since and it is time."""
        if self._unseen is not None and self._pace.is_due():
            self._look(self._unseen)

    def _look(self, recording: Recording) -> None:
        self._unseen = None
        with self._pace.taken():
            list(self._standings.update(recording))


@dataclass(slots=True)
class Drawing:
    """What is redrawn: as much as the window holds."""

    console: Console
    standings: Standings
    _started: float = field(default_factory=monotonic)

    def __rich__(self) -> RenderableType:
        width, height = self.console.width, self.console.height
        plain = not self.console.encoding.startswith("utf")
        below = pulse(self.standings, self._started, width=width, plain=plain)
        if not any(self.standings):
            return below
        return Group(table(self.standings, width=width, height=height - _PULSE_ROWS), below)
