"""The table of suites that a terminal shows while they run: as much as fits, those that still run first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.table import Table
from rich.text import Text

from scoregate.ci.report import numbers
from scoregate.ci.report.text import name
from scoregate.cli.standings import STATES, Standing, costs, means
from scoregate.core.tally import Tally

_COUNTS = ("done", *(heading for heading, _ in STATES.values()))
_WIDEST_NAME = 44
_FIXED = 50  # what the columns of numbers and all gaps take


def table(standings: Iterable[Standing], *, width: int, height: int) -> Table:
    """A row for each suite, or several lines, one for each evaluator, where there is room for them."""
    every = sorted(standings, key=lambda each: each.tally.finished)
    room = max(height - 2, 2)
    shown = every[: room if len(every) <= room else room - 1]
    tall = sum(max(1, len(each.tally.means)) for each in shown) <= room
    label = min(max([len(each.tally.label) for each in shown], default=5), _WIDEST_NAME, max((width - _FIXED) // 2, 10))
    grid = _empty(label)
    for each in shown:
        grid.add_row(*_cells(each, label=label, scores=max(width - _FIXED - label, 8), tall=tall))
    if len(every) > len(shown):
        grid.add_row("", Text(f"… and {len(every) - len(shown):,} more", style="dim"))
    return grid


def _empty(label: int) -> Table:
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    grid.add_column("", width=1)
    grid.add_column("suite", width=label, no_wrap=True)
    for heading in _COUNTS:
        grid.add_column(heading, justify="right", min_width=6)
    grid.add_column("time", justify="right", min_width=7)
    grid.add_column("mean scores")
    return grid


def _cells(standing: Standing, *, label: int, scores: int, tall: bool) -> Iterator[Text]:
    tally = standing.tally
    yield Text("✓", style="green") if tally.finished else Text("·")
    yield Text(name(tally.label, label))
    yield Text(f"{tally.done:,}" if tally.planned in (None, tally.done) else f"{tally.done:,}/{tally.planned:,}")
    for status, (_, style) in STATES.items():
        count = tally.states.get(status, 0)
        yield Text(f"{count:,}", style=style if count else "dim")
    yield Text(numbers.duration(standing.seconds), style="dim")
    yield _scores(tally, scores, tall=tall)


def _scores(tally: Tally, width: int, *, tall: bool) -> Text:
    text = Text(("\n" if tall else " · ").join((*means(tally, width), *costs(tally))), no_wrap=True)
    if not tall:
        text.truncate(width, overflow="ellipsis")
    return text
