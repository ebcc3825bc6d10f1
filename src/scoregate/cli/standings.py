"""How far every suite is, and since when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic

from rich.text import Text

from scoregate.ci.recording import Recording
from scoregate.ci.report import numbers
from scoregate.ci.report.text import name
from scoregate.core.case import Status
from scoregate.core.tally import Tally

_EVALUATORS = 4
STATES = {Status.PASSED: ("passed", "green"), Status.FAILED: ("failed", "red"), Status.ERRORED: ("errors", "yellow")}


@dataclass(frozen=True, slots=True)
class Standing:
    """One suite; by our clock it was first heard of at `started`."""

    script: str
    tally: Tally
    started: float

    @property
    def time(self) -> str:
        """How long it took, as far as it says so, or has been running; empty where nobody knows."""
        if not self.tally.finished:
            return clock(monotonic() - self.started)
        return "" if self.tally.duration_s is None else numbers.duration(self.tally.duration_s)


@dataclass(slots=True)
class Standings:
    """Those of a run, in the order in which they were first heard of, and how many of its scripts began and ended."""

    launches: int = 0
    began: int = 0
    ended: int = 0
    _found: dict[tuple[str, str, str], Standing] = field(default_factory=dict)
    _run: Recording | None = None

    def update(self, recording: Recording) -> Iterator[Standing]:
        """Look again; yields those that have finished since the last time."""
        now = monotonic()
        for script, tally in recording.tallies():
            key = (script, tally.log, tally.label)
            before = self._found.get(key)
            if before is not None and before.tally.finished:
                continue
            started = now if before is None else before.started
            self._found[key] = Standing(script, tally, started)
            if tally.finished:
                yield self._found[key]

    def begin(self, script: str, recording: Recording) -> None:
        """It is launched, perhaps once more, in another run: what it tells from now on is new."""
        if recording is not self._run:
            self._run, self.launches, self.began, self.ended = recording, recording.launches, 0, 0
        self.began += 1
        self._found = {key: each for key, each in self._found.items() if each.script != script}

    def end(self) -> None:
        """A script is over."""
        self.ended += 1

    def of(self, script: str) -> list[Standing]:
        """Those of one script."""
        return [each for each in self._found.values() if each.script == script]

    def __iter__(self) -> Iterator[Standing]:
        return iter(list(self._found.values()))


def clock(seconds: float) -> str:
    """A time that still runs, in whole seconds, so that it does not flicker."""
    return numbers.duration(round(seconds)) if seconds >= 59.5 else f"{seconds:.0f} s"


def line(standing: Standing) -> str:
    """`demo: 12 of 53 cases, 10 passed, 2 failed, 83% pass, is-equals 0.830, $0.02, 2.1 s`."""
    return ", ".join(filter(None, (counts(standing.tally), standing.time)))


def counts(tally: Tally) -> str:
    """The same without the time."""
    parts = (_done(tally), *_states(tally), *_rate(tally), *means(tally), *costs(tally))
    return f"{name(tally.label, 80)}: {', '.join(parts)}"


def _done(tally: Tally) -> str:
    if tally.planned in (None, tally.done):
        return numbers.count(tally.done, "case")
    return f"{tally.done:,} of {numbers.count(tally.planned or 0, 'case')}"


def _states(tally: Tally) -> Iterator[str]:
    for status in Status:
        if count := tally.states.get(status, 0):
            word = STATES[status][0] if status in STATES else str(status)
            yield numbers.count(count, "error") if status is Status.ERRORED else f"{count:,} {word}"


def _rate(tally: Tally) -> Iterator[str]:
    passed, failed = tally.states.get(Status.PASSED, 0), tally.states.get(Status.FAILED, 0)
    if failed:
        yield f"{passed / (passed + failed):.0%} pass"


def means(tally: Tally, width: int = 60) -> Iterator[str]:
    """`is-equals 0.830`, of the first evaluators; a name that is too long loses its end, never its number."""
    for evaluator, mean in list(tally.means.items())[:_EVALUATORS]:
        number = f" {mean:.3f}"
        short = Text(name(evaluator), end="")
        short.truncate(max(width - len(number), 2), overflow="ellipsis")
        yield short.plain + number
    if (rest := len(tally.means) - _EVALUATORS) > 0:
        yield f"… and {rest:,} more"


def costs(tally: Tally) -> Iterator[str]:
    """What it has cost so far, where that is known."""
    if tally.cost:
        yield f"${tally.cost:.2f}"
