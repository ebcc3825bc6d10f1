"""How far every suite is, and since when; in words for a log, in a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from time import monotonic

from rich.table import Table
from rich.text import Text

from scoregate.ci.recording import Recording
from scoregate.ci.report import numbers
from scoregate.ci.report.text import name
from scoregate.core.case import Status
from scoregate.core.tally import Tally

_EVALUATORS = 4
_STATES = {Status.PASSED: ("passed", "green"), Status.FAILED: ("failed", "red"), Status.ERRORED: ("errors", "yellow")}


@dataclass(frozen=True, slots=True)
class Standing:
    """One suite; by our clock it was first heard of at `started`, and had finished at `ended`."""

    script: str
    tally: Tally
    started: float
    ended: float | None = None

    @property
    def seconds(self) -> float:
        """How long it took, or has been running."""
        return (monotonic() if self.ended is None else self.ended) - self.started


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
            self._found[key] = Standing(script, tally, started, now if tally.finished else None)
            if tally.finished:
                yield self._found[key]

    def of(self, script: str) -> list[Standing]:
        """Those of one script."""
        return [each for each in self._found.values() if each.script == script]

    def __iter__(self) -> Iterator[Standing]:
        return iter(list(self._found.values()))


def line(standing: Standing) -> str:
    """`demo: 12 of 53 cases, 10 passed, 2 failed (83%), is-equals 0.830, $0.02, 2.1 s`."""
    tally = standing.tally
    parts = (
        _done(tally),
        *_states(tally),
        _rate(tally),
        _means(tally),
        _cost(tally),
        numbers.duration(standing.seconds),
    )
    return f"{name(tally.label, 80)}: {', '.join(filter(None, parts))}"


def _done(tally: Tally) -> str:
    if tally.planned in (None, tally.done):
        return numbers.count(tally.done, "case")
    return f"{tally.done:,} of {numbers.count(tally.planned or 0, 'case')}"


def _states(tally: Tally) -> Iterator[str]:
    for status in Status:
        if count := tally.states.get(status, 0):
            yield f"{count:,} {_STATES[status][0] if status in _STATES else status}"


def _rate(tally: Tally) -> str:
    passed, failed = tally.states.get(Status.PASSED, 0), tally.states.get(Status.FAILED, 0)
    return f"{passed / (passed + failed):.0%} pass" if failed else ""


def _means(tally: Tally) -> str:
    shown = [f"{name(evaluator, 40)} {mean:.3f}" for evaluator, mean in list(tally.means.items())[:_EVALUATORS]]
    rest = len(tally.means) - len(shown)
    return ", ".join([*shown, *([f"{rest} more evaluators"] if rest > 0 else [])])


def _cost(tally: Tally) -> str:
    return f"${tally.cost:.2f}" if tally.cost else ""


def table(standings: Iterable[Standing], *, rows: int) -> Table:
    """As many as fit, those that still run first; the rest is counted."""
    every = sorted(standings, key=lambda each: each.tally.finished)
    shown = every[: rows if len(every) <= rows else rows - 1]
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    grid.add_column("")
    grid.add_column("suite", no_wrap=True, overflow="ellipsis", max_width=40)
    for heading in ("done", "passed", "failed", "errors"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("mean scores", no_wrap=True, overflow="ellipsis", ratio=1)
    grid.add_column("time", justify="right", no_wrap=True)
    for standing in shown:
        grid.add_row(*_cells(standing))
    if len(every) > len(shown):
        grid.add_row("", Text(f"… and {len(every) - len(shown):,} more", style="dim"))
    return grid


def _cells(standing: Standing) -> Iterator[Text]:
    tally = standing.tally
    yield Text("✓" if tally.finished else "·")
    yield Text(name(tally.label, 80))
    yield Text(f"{tally.done:,}" if tally.planned in (None, tally.done) else f"{tally.done:,}/{tally.planned:,}")
    for status, (_, style) in _STATES.items():
        count = tally.states.get(status, 0)
        yield Text(f"{count:,}", style=style if count else "dim")
    yield Text(" · ".join(filter(None, (_means(tally).replace(", ", " · "), _cost(tally)))))
    yield Text(numbers.duration(standing.seconds), style="dim")
