"""What a log shows of a run: lines, each of which may be the last that somebody sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from rich.text import Text

from scoregate.ci.launch import Began, Ended, Happening, Printed
from scoregate.ci.recording import Recording
from scoregate.ci.report.text import one_line
from scoregate.cli.case_lines import case_lines
from scoregate.cli.standings import Standings, counts, line
from scoregate.cli.watching import Pace, Say, printed

_EVERY_S, _LOOK_S = 15.0, 1.0


@dataclass(slots=True)
class Plain:
    """A line when a script begins, when a suite ends, one now and then between, and what scripts print.

    `cases`: also one for each case as it finishes.
    """

    say: Say
    cases: bool = False
    _standings: Standings = field(default_factory=Standings)
    _pace: Pace = field(default_factory=lambda: Pace(_LOOK_S))
    _told: float = field(default_factory=monotonic)
    _seen: Recording | None = None

    def __call__(self, happening: Happening, recording: Recording) -> None:
        if isinstance(happening, Began):
            self._standings.begin(happening.script, recording)
            self._say(f"▸ {one_line(happening.script, 200)}")
        elif isinstance(happening, Printed):
            self.say(printed(happening.line))
        elif isinstance(happening, Ended):
            self._look(recording)
            for standing in self._standings.of(happening.script.name):
                if not standing.tally.finished:
                    self._say(f"  {counts(standing.tally)}; it never finished")
        else:
            if self.cases and recording.finished:
                self.say(case_lines(recording))
            self._seen = recording
            self.tick()

    def tick(self) -> None:
        """Look again, where it is time."""
        if self._seen is not None and self._pace.is_due():
            self._look(self._seen)

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
        self.say(Text(text))
