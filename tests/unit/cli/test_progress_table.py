"""The table of running suites fits every terminal, and drops names before numbers."""

from __future__ import annotations

from time import monotonic

import pytest
from rich.cells import cell_len
from rich.console import Console

from scoregate.cli.progress_state import SuiteProgress, format_suite
from scoregate.cli.progress_table import draw_table
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.tally import Tally

STATES = {Status.PASSED: 1_200, Status.FAILED: 34, Status.ERRORED: 5}
LONG = "a suite whose name goes on and on [model=gpt-6-luna, temperature=0.2]"


def make_progress(label: str = LONG, *, finished: bool = False, evaluators: int = 2) -> SuiteProgress:
    means = {f"has-all-substrings-{number}": 0.5 + number / 10 for number in range(evaluators)}
    tally = Tally("http-1", label, 4_000, 1_239, STATES, means, 0.25, finished)
    return SuiteProgress("run", tally, monotonic() - 75)


def draw(*standings: SuiteProgress, width: int, height: int = 24) -> list[str]:
    console = Console(width=width, height=height, force_terminal=False, emoji=False, markup=False)
    with console.capture() as capture:
        console.print(draw_table(standings, width=width, height=height))
    return [row.rstrip() for row in capture.get().splitlines()]


@pytest.mark.parametrize(
    ("width", "numbers"),
    [
        (40, ("1,239/4,000", "34", "5")),
        (60, ("1,239/4,000", "34", "5", "1 m 15 s")),
        (80, ("1,239/4,000", "1,200", "34", "5", "1 m 15 s")),
        (100, ("1,239/4,000", "1,200", "34", "5", "1 m 15 s", "0.500", "0.600", "$0.25")),
        (200, ("1,239/4,000", "1,200", "34", "5", "1 m 15 s", "0.500", "0.600", "$0.25")),
    ],
)
def test_a_narrow_terminal_drops_scores_then_passes_then_time(width: int, numbers: tuple[str, ...]) -> None:
    rows = draw(make_progress(), width=width)
    assert max(map(len, rows)) <= width
    assert [number for number in numbers if number not in "\n".join(rows)] == []
    assert "a suite" in rows[1]


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize(
    "name", ["日本語の回答を評価するスイートと長い名前", "🎉🎉🎉 party " * 5, "x" * 300, "\u202e\x00\x1b[2J", ""]
)
def test_no_name_is_too_wide(name: str, width: int) -> None:
    rows = draw(make_progress(name), make_progress("demo", finished=True), width=width)
    assert len(rows) >= 3
    assert max(map(cell_len, rows)) <= width


def test_a_finished_suite_shows_its_status() -> None:
    rows = draw(make_progress("bad", finished=True), width=80)
    assert rows[1].startswith("✗")
    good = Tally("http-1", "good", 2, 2, {Status.PASSED: 2}, finished=True)
    assert draw(SuiteProgress("run", good, 0.0), width=80)[1].startswith("✓")


def test_suites_that_do_not_fit_are_counted_running_first() -> None:
    ended = [make_progress(f"ended {number}", finished=True) for number in range(40)]
    rows = draw(*ended, make_progress("still running"), width=100, height=12)
    assert len(rows) <= 12
    assert "still running" in rows[1]
    assert "more" in rows[-1]


def test_names_have_no_control_codes() -> None:
    assert "\x1b" not in "".join(draw(make_progress("\x1b[31mred\x1b]0;title\x07"), width=80))


def test_one_item_is_in_the_singular() -> None:
    one = Tally("http-1", "demo", states={Status.ERRORED: 1, Status.FAILED: 1}, done=1)
    assert format_suite(SuiteProgress("run", one, monotonic())).startswith("demo: 1 case, 1 failed, 1 error, ")


def test_a_log_line_has_all_columns() -> None:
    line = format_suite(make_progress("demo"))
    assert line.startswith("demo: 1,239 of 4,000 cases, 1,200 passed, 34 failed, 5 errors, 97% pass, has-all-")
    assert line.endswith("$0.25, 1 m 15 s")
