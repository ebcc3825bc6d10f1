"""What is seen while scripts run: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import fsum
from time import monotonic

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from scoregate.ci.launch import Began, Ended, Happening, Printed
from scoregate.ci.recording import Observer, Recording
from scoregate.ci.report import numbers
from scoregate.ci.report.text import one_line
from scoregate.core.case import Status
from scoregate.core.fold import SuiteFold

_EVERY_S = 15.0
_LONGEST_LINE = 2_000


@contextmanager
def progress(console: Console) -> Iterator[Observer]:
    """An observer that shows on `console` what happens, for as long as the block lasts."""
    if not console.is_terminal:
        yield _Plain(console)
        return
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        yield _Lively(console, live)


class _Plain:
    """A line when a script begins and ends, one now and then between, and what it prints."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = monotonic()

    def __call__(self, happening: Happening, recording: Recording) -> None:
        if isinstance(happening, Began):
            self._console.print(Text(f"▸ {happening.script}"))
        elif isinstance(happening, Printed):
            self._console.print(printed(happening.line))
        elif isinstance(happening, Ended):
            for fold in recording.fold.suites.values():
                if fold.script == happening.script.name:
                    self._console.print(Text(f"  {one_line(fold.id, 80)}: {counts(fold)}"))
        elif monotonic() - self._last > _EVERY_S:
            self._last = monotonic()
            for fold in recording.fold.suites.values():
                if fold.finished is None:
                    self._console.print(Text(f"  {one_line(fold.id, 80)}: {counts(fold)} so far"))


class _Lively:
    """A row for each suite, redrawn in place, with the scripts' own output above it."""

    def __init__(self, console: Console, live: Live) -> None:
        self._console = console
        self._live = live
        self._started = monotonic()
        self._drawn = 0.0

    def __call__(self, happening: Happening, recording: Recording) -> None:
        if isinstance(happening, Printed):
            self._console.print(printed(happening.line))
        elif monotonic() - self._drawn > 0.1 or isinstance(happening, Ended):
            self._drawn = monotonic()
            self._live.update(self._table(recording))

    def _table(self, recording: Recording) -> Table:
        table = Table.grid(padding=(0, 2))
        for fold in recording.fold.suites.values():
            table.add_row(Text("·" if fold.finished is None else "✓"), Text(one_line(fold.id, 40)), Text(counts(fold)))
        seconds = monotonic() - self._started
        done = sum(len(fold.columns) for fold in recording.fold.suites.values())
        table.add_row("", "", Text(f"{seconds:.0f} s, {done / max(seconds, 0.1):.0f} cases/s", style="dim"))
        return table


def counts(fold: SuiteFold) -> str:
    """How far a suite is: `12 of 53 cases, 10 passed, 2 failed (83%), $0.02`."""
    columns = fold.columns
    planned = fold.started.cases if fold.started is not None else None
    done = numbers.count(len(columns) if planned is None else planned, "case")
    if planned not in (None, len(columns)):
        done = f"{len(columns):,} of {done}"
    states = ", ".join(f"{count:,} {status}" for status in Status if (count := columns.count(status)))
    passed, failed = columns.count(Status.PASSED), columns.count(Status.FAILED)
    rate = f" ({passed / (passed + failed):.0%})" if failed else ""
    cost = fsum(cost for cost in columns.costs if cost > 0)
    return ", ".join(part for part in (done, states + rate, f"${cost:.2f}" if cost else "") if part)


def printed(line: str) -> Text:
    """A line that a script printed, set apart so that nothing in it is taken for a command of ours or of CI's."""
    harmless = one_line(line, _LONGEST_LINE).replace("##[", "##\u200b[")
    return Text(f"  | {harmless}", style="dim", no_wrap=True)
