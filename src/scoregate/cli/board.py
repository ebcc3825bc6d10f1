"""The table of suites that a terminal shows while they run: as much as fits, those that still run first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table
from rich.text import Text

from scoregate.ci.report.text import name
from scoregate.cli.standings import STATES, Standing, costs, means
from scoregate.core.tally import Tally

_HEADINGS = ("done", *(heading for heading, _ in STATES.values()), "time")
_SCORES = "mean scores"
_WIDEST_NAME = 44
_GAP = 2


def table(standings: Iterable[Standing], *, width: int, height: int) -> Table:
    """A row for each suite, or several lines, one for each evaluator, where there is room for them.

    What does not fit costs names their ends before it costs a number.
    """
    every = sorted(standings, key=lambda each: each.tally.finished)
    room = max(height - 2, 2)
    shown = every[: room if len(every) <= room else room - 1]
    cells = [tuple(_numbers(each)) for each in shown]
    label, scores = _widths(shown, cells, width)
    tall = sum(max(1, len([*means(each.tally), *costs(each.tally)])) for each in shown) <= room
    grid = _empty(label)
    for each, row in zip(shown, cells, strict=True):
        mark = Text("✓", style="green") if each.tally.finished else Text("·")
        grid.add_row(mark, name(each.tally.label, label), *row, _scores(each.tally, scores, tall=tall))
    if len(every) > len(shown):
        grid.add_row("", Text(f"… and {len(every) - len(shown):,} more", style="dim"))
    return grid


def _empty(label: int) -> Table:
    grid = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    grid.add_column("", width=1)
    grid.add_column("suite", width=label, no_wrap=True)
    for heading in _HEADINGS:
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column(_SCORES)
    return grid


def _widths(shown: Sequence[Standing], cells: Sequence[Sequence[Text]], width: int) -> tuple[int, int]:
    """Of a suite's name, and of its scores, beside columns of numbers that take what they need."""
    columns = zip(map(Text, _HEADINGS), *cells, strict=True)
    left = width - 1 - sum(max(map(len, column)) for column in columns) - _GAP * (len(_HEADINGS) + 2)
    longest = max([len(each.tally.label) for each in shown], default=0)
    label = max(min(longest, _WIDEST_NAME, left // 2, left - len(_SCORES)), len("suite"))
    return label, max(left - label, len(_SCORES))


def _numbers(standing: Standing) -> Iterator[Text]:
    tally = standing.tally
    yield Text(f"{tally.done:,}" if tally.planned in (None, tally.done) else f"{tally.done:,}/{tally.planned:,}")
    for status, (_, style) in STATES.items():
        count = tally.states.get(status, 0)
        yield Text(f"{count:,}", style=style if count else "dim")
    yield Text(standing.time, style="dim")


def _scores(tally: Tally, width: int, *, tall: bool) -> Text:
    text = Text(("\n" if tall else " · ").join((*means(tally, width), *costs(tally))), no_wrap=True)
    if not tall:
        text.truncate(width, overflow="ellipsis")
    return text
