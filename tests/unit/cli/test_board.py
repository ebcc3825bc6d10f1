"""The table of running suites fits every terminal, and loses names before it loses numbers."""

from __future__ import annotations

from time import monotonic

import pytest
from rich.console import Console

from scoregate.cli.board import table
from scoregate.cli.standings import Standing, line
from scoregate.core.case import Status
from scoregate.core.tally import Tally

STATES = {Status.PASSED: 1_200, Status.FAILED: 34, Status.ERRORED: 5}
LONG = "a suite whose name goes on and on [model=gpt-6-luna, temperature=0.2]"


def standing(label: str = LONG, *, finished: bool = False, evaluators: int = 2) -> Standing:
    means = {f"has-all-substrings-{number}": 0.5 + number / 10 for number in range(evaluators)}
    tally = Tally("http-1", label, 4_000, 1_239, STATES, means, 0.25, finished)
    return Standing("run", tally, monotonic() - 75)


def drawn(*standings: Standing, width: int, height: int = 24) -> list[str]:
    console = Console(width=width, height=height, force_terminal=False, emoji=False, markup=False)
    with console.capture() as capture:
        console.print(table(standings, width=width, height=height))
    return [row.rstrip() for row in capture.get().splitlines()]


@pytest.mark.parametrize("width", [72, 100, 200])
def test_every_number_is_there_at_any_width(width: int) -> None:
    rows = drawn(standing(), width=width)
    assert max(map(len, rows)) <= width
    for number in ("1,239/4,000", "1,200", "34", "5", "1 m 15 s", "0.500", "0.600", "$0.25"):
        assert number in "\n".join(rows)


def test_more_suites_than_lines_are_counted_those_that_run_first() -> None:
    ended = [standing(f"ended {number}", finished=True) for number in range(40)]
    rows = drawn(*ended, standing("still running"), width=100, height=12)
    assert len(rows) <= 12
    assert "still running" in rows[1]
    assert "more" in rows[-1]


def test_names_steer_no_terminal() -> None:
    assert "\x1b" not in "".join(drawn(standing("\x1b[31mred\x1b]0;title\x07"), width=80))


def test_one_of_a_kind_is_not_called_many() -> None:
    one = Tally("http-1", "demo", states={Status.ERRORED: 1, Status.FAILED: 1}, done=1)
    assert line(Standing("run", one, monotonic())).startswith("demo: 1 case, 1 failed, 1 error, ")


def test_a_line_for_a_log_says_the_same() -> None:
    told = line(standing("demo"))
    assert told.startswith("demo: 1,239 of 4,000 cases, 1,200 passed, 34 failed, 5 errors, 97% pass, has-all-")
    assert told.endswith("$0.25, 1 m 15 s")
