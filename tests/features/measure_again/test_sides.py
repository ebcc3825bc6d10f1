"""Which trials count again, and where they are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.kernel.builders import ERROR, ExampleSuite, run_of, scored

from scoregate.features.attempts.pooled_run import pool_earlier
from scoregate.features.measure_again.level import LEVEL_SHARE
from scoregate.features.measure_again.pooled_sides import pool_again
from scoregate.features.steps import load_steps
from scoregate.kernel.gate.families import LEVEL_FACTOR
from scoregate.kernel.job.shards.merge_runs import MatrixRun, merge_matrix_runs
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.judgement import Baseline, ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run, RunCode

GOOD, BAD = [1.0] * 40, [0.0] * 8 + [1.0] * 32
SETTINGS = Settings.model_validate({"fail_on_regression": True})
BASE = RunCode("0.1", commit="b" * 40)


def of(*scores: float) -> Run:
    return run_of(ExampleSuite(scored(*scores)))


def measured_again(run: Run, again: Run, base: Run | None = None) -> Run:
    for _ in range(2):
        run = run.add_companion(TrialRole.AGAIN, again)
    return run if base is None else run.add_companion(TrialRole.AGAIN_BASE, base)


def count(run: Run) -> int:
    return len(run.suites[0].columns)


def test_both_sides_get_their_trials_and_half_of_the_level_decides() -> None:
    base = replace(of(*GOOD), code=BASE)
    run = measured_again(of(*BAD), of(*GOOD), base)
    sides = pool_again(run, Baseline(base, "main"))
    assert sides.baseline.run is not None
    assert (count(sides.run), count(sides.baseline.run)) == (120, 80)
    judged = judge(ComparedSides(run, Baseline(base, "main"), SETTINGS), load_steps)
    assert judged.comparison.slots.get(LEVEL_FACTOR) == LEVEL_SHARE


def test_trials_that_all_met_an_error_do_not_change_the_level() -> None:
    errors = run_of(ExampleSuite(scored(*[ERROR] * 40)))
    run = measured_again(of(*BAD), errors)
    judged = judge(ComparedSides(run, Baseline(of(*GOOD), "main"), SETTINGS), load_steps)
    assert judged.comparison.slots.get(LEVEL_FACTOR) == 1.0
    assert judged.verdict.failed


@pytest.mark.parametrize("change", [{"commit": "c" * 40}, {"commit": None}, {"dirty": True}])
def test_trials_of_another_base_do_not_count(change: dict[str, Any]) -> None:
    base = replace(of(*GOOD), code=BASE)
    run = measured_again(of(*BAD), of(*GOOD), base)
    other = replace(base, code=replace(BASE, **change))
    sides = pool_again(run, Baseline(other, "other"))
    assert sides.baseline.run == other


def test_the_next_attempt_counts_what_was_measured_again() -> None:
    """Otherwise an attempt that was red by chance would count as it was."""
    attempt = measured_again(of(*BAD), of(*GOOD))
    run = of(*GOOD).add_companion(TrialRole.MAIN, replace(attempt, id="attempt 1"))
    pooled, counted = pool_earlier(run)
    assert counted is not None
    assert (counted.number, counted.attempts, count(pooled)) == (2, 1, 160)


def test_legs_of_a_matrix_keep_what_was_measured_again(tmp_path: Path) -> None:
    base = replace(of(*GOOD), code=BASE)
    legs = [MatrixRun("a", measured_again(of(*BAD), of(*GOOD), base)), MatrixRun("b", of(*GOOD))]
    merged = merge_matrix_runs(legs, tmp_path / "run", Settings())
    assert [len(merged.companions_of(role)) for role in (TrialRole.AGAIN, TrialRole.AGAIN_BASE)] == [2, 1]
    folders = sorted(each.name for each in (tmp_path / "run").iterdir() if each.is_dir())
    assert folders == ["again-1", "again-2", "base-again"]
    assert merged.companions_of(TrialRole.AGAIN_BASE)[0].code.commit == BASE.commit
    sides = pool_again(merged, Baseline(None))
    assert [len(suite.columns) for suite in sides.run.suites] == [120, 40]


def test_legs_of_a_matrix_keep_it_in_copies_of_earlier_attempts(tmp_path: Path) -> None:
    attempt = replace(measured_again(of(*BAD), of(*GOOD)), id="attempt 1")
    legs = [MatrixRun("a", of(*GOOD).add_companion(TrialRole.MAIN, attempt)), MatrixRun("b", of(*GOOD))]
    pooled, _ = pool_earlier(merge_matrix_runs(legs, tmp_path / "run", Settings()))
    assert (tmp_path / "run/attempt-01/again-2/run.json").is_file()
    assert [len(suite.columns) for suite in pooled.suites] == [160, 40]


def test_bases_of_different_commits_are_not_merged(tmp_path: Path) -> None:
    bases = [replace(of(*GOOD), code=replace(BASE, commit=letter * 40)) for letter in "bc"]
    legs = [MatrixRun(base.code.commit or "", measured_again(of(*BAD), of(*GOOD), base)) for base in bases]
    assert merge_matrix_runs(legs, tmp_path / "run", Settings()).companions_of(TrialRole.AGAIN_BASE) == ()


def test_further_runs_of_suites_that_do_not_count_do_not_either() -> None:
    gone = run_of(ExampleSuite({f"c{at}": {"e": score, "gone": 1.0} for at, score in enumerate(BAD)}))
    attempt = replace(measured_again(gone, of(*GOOD)), id="attempt 1")
    pooled, counted = pool_earlier(of(*GOOD).add_companion(TrialRole.MAIN, attempt))
    assert counted is not None
    assert (counted.attempts, count(pooled)) == (0, 40)
