"""How far every suite is, and since when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic

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
        seconds = self.tally.duration_s if self.tally.finished else monotonic() - self.started
        return "" if seconds is None else numbers.duration(seconds)


@dataclass(slots=True)
class Standings:
    """Those of a run, in the order in which they were first heard of."""

    _found: dict[tuple[str, str, str], Standing] = field(default_factory=dict)

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

    def forget(self, script: str) -> None:
        """It is launched, perhaps once more: what it tells from now on is new."""
        self._found = {key: each for key, each in self._found.items() if each.script != script}

    def of(self, script: str) -> list[Standing]:
        """Those of one script."""
        return [each for each in self._found.values() if each.script == script]

    def __iter__(self) -> Iterator[Standing]:
        return iter(list(self._found.values()))


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
        yield name(evaluator, max(width - len(number), 2)) + number
    if (rest := len(tally.means) - _EVALUATORS) > 0:
        yield f"… and {rest:,} more"


def costs(tally: Tally) -> Iterator[str]:
    """What it has cost so far, where that is known."""
    if tally.cost:
        yield f"${tally.cost:.2f}"
