"""The table of suites that a terminal shows while they run: as much as fits, those that still run first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from scoregate.ci.report.text import name
from scoregate.cli.standings import STATES, Standing, costs, means
from scoregate.core.tally import Tally

_SCORES = "mean scores"
_FEWEST_SCORES = 16
_WIDEST_NAME, _NARROW_NAME, _NARROWEST_NAME = 44, 16, 5
_GAP = 2
_STATES = tuple(heading for heading, _ in STATES.values())
# What a narrow terminal goes without, the least first.
_COLUMNS = (
    ("done", *_STATES, "time", _SCORES),
    ("done", *_STATES, "time"),
    ("done", *_STATES[1:], "time"),
    ("done", *_STATES[1:]),
)


def table(standings: Iterable[Standing], *, width: int, height: int) -> Table:
    """A row for each suite, or several lines, one for each evaluator, where there is room for them.

    What does not fit costs scores, then names their ends, before it costs a number.
    """
    every = sorted(standings, key=lambda each: each.tally.finished)
    room = max(height - 1, 2)
    shown = every[: room if len(every) <= room else room - 1]
    cells = [_numbers(each) for each in shown]
    more = f"… and {len(every) - len(shown):,} more" if len(every) > len(shown) else ""
    names = [*(name(each.tally.label) for each in shown), more]
    columns, label, scores = _layout(names, cells, width)
    tall = sum(max(1, len([*means(each.tally), *costs(each.tally)])) for each in shown) <= room
    grid = _empty(columns, label)
    for each, row in zip(shown, cells, strict=True):
        told = {**row, _SCORES: _scores(each.tally, scores, tall=tall)}
        grid.add_row(_mark(each.tally), Text(name(each.tally.label)), *(told[column] for column in columns))
    if more:
        grid.add_row("", Text(more, style="dim"))
    return grid


def _mark(tally: Tally) -> Text:
    if not tally.finished:
        return Text("·")
    wrong = [style for status, (_, style) in STATES.items() if style != "green" and tally.states.get(status)]
    return Text("✗", style=wrong[0]) if wrong else Text("✓", style="green")


def _empty(columns: Sequence[str], label: int) -> Table:
    grid = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    grid.add_column("", width=1)
    grid.add_column("suite", width=label, no_wrap=True, overflow="ellipsis")
    for heading in columns:
        grid.add_column(heading, justify="left" if heading == _SCORES else "right", no_wrap=True)
    return grid


def _layout(names: Sequence[str], cells: Sequence[Mapping[str, Text]], width: int) -> tuple[Sequence[str], int, int]:
    """The columns, and how wide a suite's name and its scores may be beside numbers that take what they need."""
    longest = max(map(cell_len, names))
    wanted = min(longest, _NARROW_NAME)
    for columns in _COLUMNS:
        numbers = [each for each in columns if each != _SCORES]
        taken = sum(max(map(cell_len, (each, *(row[each].plain for row in cells)))) for each in numbers)
        left = width - 1 - taken - _GAP * (len(columns) + 1)
        least = _FEWEST_SCORES if _SCORES in columns else 0
        if left - least >= wanted:
            break
    label = max(min(longest, _WIDEST_NAME, left // 2 if least else left, left - least), _NARROWEST_NAME)
    return columns, max(label, min(wanted, left - least)), max(left - label, least)


def _numbers(standing: Standing) -> dict[str, Text]:
    tally = standing.tally
    done = f"{tally.done:,}" if tally.planned in (None, tally.done) else f"{tally.done:,}/{tally.planned:,}"
    row = {"done": Text(done), "time": Text(standing.time, style="dim")}
    for status, (heading, style) in STATES.items():
        count = tally.states.get(status, 0)
        row[heading] = Text(f"{count:,}", style=style if count else "dim")
    return row


def _scores(tally: Tally, width: int, *, tall: bool) -> Text:
    text = Text(("\n" if tall else " · ").join((*means(tally, width), *costs(tally))), no_wrap=True)
    if not tall:
        text.truncate(width, overflow="ellipsis")
    return text
