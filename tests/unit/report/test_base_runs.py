"""How reports describe a base of several runs, and scores whose whole runs move."""

from __future__ import annotations

from tests.runs import change_run
from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import BaseRuns, Row, RowLabel
from scoregate.kernel.compare.run_movement import RunMovement
from scoregate.kernel.report.base_runs import build_earlier_runs, describe_base_runs, describe_movement
from scoregate.kernel.types.runs.run import Run

DAY = 86_400.0


def run(commit: str, day: float, *suites: str) -> Run:
    specs = (ExampleSuite(scored(1.0), id=each) for each in suites or ("a", "b"))
    return change_run(run_of(*specs), id=commit, commit=commit, branch="main", finished=day * DAY)


def describe(base: Run, *earlier: Run, pooled: int = 1) -> str:
    return describe_base_runs(base, pooled, tuple(build_earlier_runs(Comparison(base, base, earlier_runs=earlier))))


def test_days_are_named() -> None:
    base = run("aaaaaaaaa", 9)
    assert describe(base) == ""
    assert describe(base, pooled=2) == "2 runs of this commit"
    assert describe(base, run("b" * 40, 8), run("c" * 40, 6)) == "3 runs over 3 days, unchanged since ccccccc"
    assert describe(base, run("b" * 40, 9), pooled=2) == "3 runs, unchanged since bbbbbbb"
    newer = describe(base, run("b" * 40, 11), run("c" * 40, 6, "b"))
    assert newer == "3 runs over 5 days, unchanged since ccccccc"
    assert describe(base, run("c" * 40, 8, "b")) == "2 runs over 1 day, unchanged since ccccccc (1 of 2 suites)"


def test_movement_is_named() -> None:
    moving, steady = RunMovement(0.0123, 0.01, 12), RunMovement(0.0123, 0.0, 12)
    rows = [Row("bot", name, RowLabel.NOISE, base_runs=BaseRuns(12, moving)) for name in "abcde"]
    rows.append(Row("bot", "steady", RowLabel.NOISE, base_runs=BaseRuns(12, steady)))
    base = run("a", 1)
    (text,) = describe_movement(Comparison(base, base, rows=tuple(rows)))
    assert "bot · a by 1.2 points (12 runs), bot · b" in text
    assert text.count("bot ·") == 3
    assert " and 2 more. " in text
    assert list(describe_movement(Comparison(base, base, rows=tuple(rows[5:])))) == []
