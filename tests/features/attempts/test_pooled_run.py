"""Which trials of earlier attempts count, and for what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.kernel.builders import ERROR, HALF, ExampleSuite, info, mark_source, run_of, scored

from scoregate.features.attempts.keys import POOLED, PooledRuns
from scoregate.features.attempts.pooled_run import pool_earlier
from scoregate.features.attempts.step import STEP
from scoregate.features.steps import load_all_steps, load_steps
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.job.shards.merged_info import SHARD_RUNS, ShardRun
from scoregate.kernel.judge.archive import ATTEMPT, RunWriter, read_run
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.judgement import Baseline, ComparedSides, Judged
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.suites import build_totals
from scoregate.kernel.types.evaluation import Evaluation, Usage
from scoregate.kernel.types.event_values import NO_SCALE, ErrorInfo
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.dependencies import CarriedFrom, Dependency, RunDependencies, ScriptDependencies
from scoregate.kernel.types.runs.evidence import TrialRole, Trials, Use
from scoregate.kernel.types.runs.run import BaseReference, Conditions, Run
from scoregate.kernel.types.runs.run_scope import RunScope

GOOD, BAD = [1.0] * 40, [0.0] * 20 + [1.0] * 20
UNSCALED = ErrorInfo(NO_SCALE, "1.5 is outside of [0, 1]")


def attempt_of(*scores: Any, **suite: Any) -> Run:
    return run_of(ExampleSuite(scored(*scores), **suite))


def after(run: Run, *attempts: Run) -> Run:
    """A run with earlier attempts."""
    for number, each in enumerate(attempts):
        run = run.add_companion(TrialRole.MAIN, replace(each, id=f"attempt {number + 1}"))
    return run


def judge_pooled(run: Run, base: Run, **settings: Any) -> Judged:
    sides = ComparedSides(run, Baseline(base, "main"), Settings(**settings))
    return judge(sides, load_steps)


def scores_of(run: Run) -> list[float]:
    return list(run.suites[0].columns.scores["e"])


def test_a_green_attempt_does_not_erase_a_red_one() -> None:
    base, red, green = attempt_of(*GOOD), attempt_of(*BAD), attempt_of(*GOOD)
    (row,) = compare(green, base).rows
    assert row.label is RowLabel.UNCHANGED
    judged = judge_pooled(after(green, red), base, fail_on_regression=True)
    (row,) = judged.comparison.rows
    assert (row.label, row.mean, row.delta) == (RowLabel.WORSE, 0.75, -0.25)
    assert judged.exit_code == 1
    assert [section.data for section in STEP.sections(judged)] == [
        {"attempt": 2, "earlier": 1, "pushes": 0, "unchanged": [], "not_counted": []}
    ]


def from_shards(run: Run, *shards: tuple[str, int]) -> Run:
    """A run that was merged from shards with these ids and numbers of trials."""
    return replace(run, slots=run.slots.put(SHARD_RUNS, tuple(ShardRun(name, (number,)) for name, number in shards)))


def test_a_shard_that_did_not_run_again_counts_once() -> None:
    first = from_shards(attempt_of(0.0, 0.0, 1.0), ("a", 2), ("b", 1))
    same = from_shards(attempt_of(0.0, 0.0, 1.0), ("a", 2), ("b", 1))
    half = from_shards(attempt_of(1.0, 1.0, 1.0), ("c", 2), ("b", 1))
    last = from_shards(attempt_of(0.5, 0.5, 0.5), ("d", 2), ("e", 1))
    pooled, counted = pool_earlier(after(last, first, same, half))
    assert scores_of(pooled) == [0.5, 0.5, 0.5, 0.0, 0.0, 1.0, 1.0, 1.0]
    assert counted is not None
    assert counted.attempts == 2
    pooled, counted = pool_earlier(after(same, first))
    assert (len(scores_of(pooled)), counted) == (3, None)


def test_limits_count_all_attempts() -> None:
    base, limits = attempt_of(*GOOD), {"min_pass_rate": 0.8}
    assert judge_pooled(attempt_of(*GOOD), base, **limits).exit_code == 0
    assert judge_pooled(after(attempt_of(*GOOD), attempt_of(*BAD)), base, **limits).exit_code == 1
    assert judge_pooled(after(attempt_of(*GOOD), attempt_of(*BAD), attempt_of(*GOOD)), base, **limits).exit_code == 0


def test_a_case_fails_newly_if_half_of_its_trials_fail() -> None:
    base, red, green = attempt_of(1.0, 1.0), attempt_of(0.0, 1.0), attempt_of(1.0, 1.0)
    for attempts, number in (([red, red], 1), ([red], 1), ([red, green], 0), ([green], 0)):
        judged = judge_pooled(after(green, *attempts), base)
        assert len(judged.comparison.newly_failing) == number, attempts


def test_trials_with_errors_do_not_count() -> None:
    pooled, counted = pool_earlier(after(attempt_of(1.0, 1.0), attempt_of(0.0, ERROR)))
    assert scores_of(pooled) == [1.0, 1.0, 0.0]
    assert counted == PooledRuns(2, 1)
    none, counted = pool_earlier(after(attempt_of(1.0), attempt_of(ERROR)))
    assert (scores_of(none), counted) == ([1.0], None)


def test_an_error_of_this_attempt_is_not_excused_by_another() -> None:
    base, red = attempt_of(1.0, 1.0), attempt_of(1.0, ERROR)
    judged = judge_pooled(after(red, attempt_of(1.0, 1.0)), base, max_error_rate=0.4)
    assert judged.exit_code == 3
    assert next(each.value for each in judged.verdict.findings) == "1 of 2 cases (50.0%)"


def test_cases_that_changed_or_are_gone_do_not_count() -> None:
    now = attempt_of(1.0, 1.0, digests={"c0": "new", "c1": "same"})
    then = attempt_of(0.0, 0.0, 0.0, digests={"c0": "old", "c1": "same"})
    assert scores_of(pool_earlier(after(now, then))[0]) == [1.0, 1.0, 0.0]


def test_evaluators_that_changed_are_named() -> None:
    now = attempt_of(1.0, evaluators=(info("e", source="new"),))
    then = attempt_of(0.0, evaluators=(info("e", source="old"),))
    same = attempt_of(0.0, evaluators=(info("e", source="new"),))
    pooled, counted = pool_earlier(after(now, then, same))
    assert scores_of(pooled) == [1.0, 0.0]
    assert counted is not None
    assert (counted.number, counted.attempts, len(counted.gaps)) == (3, 1, 1)
    assert counted.gaps[0].startswith("demo of attempt 1: e: ")


def push_of(score: float, read: str, *, code: str) -> Run:
    """A run of another commit, with what its suite read."""
    table = (Dependency("file", "prompt.md", read),)
    known = RunDependencies(table, (ScriptDependencies("evals/demo.py", "launch", (0,)),))
    return replace(attempt_of(score), conditions=Conditions(code, "settings", code), dependencies=known)


def after_push(run: Run, *pushes: Run) -> Run:
    for number, each in enumerate(pushes):
        run = run.add_companion(TrialRole.PUSH, replace(each, id=f"push {number + 1}"))
    return run


def test_what_a_push_did_not_change_counts() -> None:
    now, same = push_of(1.0, "same", code="new"), push_of(0.0, "same", code="old")
    pooled, counted = pool_earlier(after_push(now, same))
    assert (scores_of(pooled), counted) == ([1.0, 0.0], PooledRuns(1, 0, 1, ("demo",)))
    assert pool_earlier(after_push(now, push_of(0.0, "other", code="old")))[1] is None
    assert pool_earlier(after_push(now, replace(same, dependencies=RunDependencies())))[1] is None
    assert pool_earlier(after_push(now, replace(same, conditions=Conditions("old", "another model"))))[1] is None
    both = after(after_push(now, same), push_of(0.5, "unread", code="new"))
    assert pool_earlier(both)[1] == PooledRuns(2, 1, 1, ("demo",))
    sections = [each.sentences for each in STEP.sections(judge_pooled(both, attempt_of(1.0)))]
    assert sections == [
        (
            "Attempt 2 at this code, pooled with 1 earlier attempt: their trials count as repeats.",
            "Unchanged since the last push, so trials from then count as repeats: demo.",
        )
    ]


def test_a_push_counts_only_where_no_control_corrects_for_the_provider() -> None:
    """The control measures how far the provider has moved since the base's run; before, it had moved less."""
    now, same = push_of(1.0, "same", code="new"), push_of(0.0, "same", code="old")
    assert pool_earlier(after_push(now, same).add_companion(TrialRole.CONTROL, now))[1] is None


def test_the_baseline_is_no_attempt() -> None:
    base = replace(attempt_of(*GOOD), id="attempt 1")
    judged = judge_pooled(after(attempt_of(*BAD), base), base)
    assert judged.comparison.rows[0].delta == -0.5
    assert list(STEP.sections(judged)) == []


def test_each_attempt_has_its_own_lost_scores() -> None:
    """Two evaluators return None in turn: together, the attempts have all scores."""
    both = {"a": 1.0, "b": 1.0}
    base, first, second = (
        run_of(ExampleSuite({f"c{at}": scores for at in range(20)}, evaluators=(info("a"), info("b"))))
        for scores in (both, {"a": None, "b": 1.0}, {"a": 1.0, "b": None})
    )
    alone, pooled = judge_pooled(second, base), judge_pooled(after(second, first), base)
    assert (alone.exit_code, pooled.exit_code) == (3, 3)


def test_scores_without_a_scale_do_not_count() -> None:
    pooled, counted = pool_earlier(after(attempt_of(1.0, 1.0), attempt_of(0.0, UNSCALED)))
    assert (scores_of(pooled), counted) == ([1.0, 1.0, 0.0], PooledRuns(2, 1))


def test_an_evaluator_that_is_gone_is_named() -> None:
    then = run_of(ExampleSuite({"c0": {"e": 1.0, "z": 0.0}}, evaluators=(info("e"), info("z"))))
    run, counted = pool_earlier(after(attempt_of(1.0), then))
    assert counted == PooledRuns(2, gaps=("demo of attempt 1: z is no scorer any more",))
    assert scores_of(run) == [1.0]


def test_a_part_of_the_cases_counts_alone() -> None:
    part = replace(attempt_of(1.0), scope=RunScope(selection="--last-failed"))
    run = after(part, attempt_of(0.0))
    assert pool_earlier(run) == (run, None)


def test_results_of_the_base_are_no_attempt() -> None:
    source, red = CarriedFrom("b", "main"), attempt_of(0.0, 0.0)
    carried = attempt_of(1.0, 1.0)
    carried = replace(carried, suites=(mark_source(carried.suites[0], (0, 1), carried=source),))
    assert pool_earlier(after(carried, red))[1] is None
    kept = attempt_of(1.0, 1.0)
    kept = replace(kept, suites=(mark_source(kept.suites[0], (1,), kept=source),))
    assert scores_of(pool_earlier(after(kept, red))[0]) == [1.0, 1.0, 0.0]
    before = replace(red, suites=(mark_source(red.suites[0], (1,), kept=source),))
    assert scores_of(pool_earlier(after(attempt_of(1.0, 1.0), before))[0]) == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(("now", "then", "counts"), [("b", "b", True), ("b", "c", False), ("", "", False)])
def test_battles_count_against_one_baseline(now: str, then: str, *, counts: bool) -> None:
    battle = replace(info("e"), battles=True)
    runs = (attempt_of(1.0, evaluators=(battle,)), attempt_of(0.0, evaluators=(battle,)))
    run, attempt = (replace(each, compared_with=BaseReference(of)) for each, of in zip(runs, (now, then), strict=True))
    pooled, counted = pool_earlier(after(run, attempt))
    assert (len(scores_of(pooled)) == 2) is counts
    assert counted is not None
    assert bool(counted.gaps) is not counts


def test_cost_is_that_of_this_attempt_and_latency_that_of_all() -> None:
    def spend(cost: float) -> Run:
        columns = Columns()
        columns.add(CaseResult(0, "c", duration_ms=cost, usage=Usage(7, cost=cost), evaluations={"e": Evaluation(1.0)}))
        run = attempt_of(1.0)
        return replace(run, suites=(replace(run.suites[0], trials=Trials(columns)),))

    pooled, _ = pool_earlier(after(spend(2.0), spend(3.0)))
    suite = pooled.suites[0]
    assert (suite.cost, suite.tokens, list(suite.columns.durations_ms)) == (2.0, 7, [2.0, 3.0])
    assert suite.columns.reused == 0
    assert not suite.evidence.counts_all(Use.SPENT)


def store(run: Run, folder: Path, cases: list[CaseResult]) -> None:
    with RunWriter(folder) as writer:
        for case in cases:
            writer.add(case)
        writer.finish(run)


def make_cases(*scores: float, output: str) -> list[CaseResult]:
    evaluations = [{"e": Evaluation(score, threshold=HALF)} for score in scores]
    return [CaseResult(0, f"c{at}", output=output, evaluations=each) for at, each in enumerate(evaluations)]


def test_a_stored_run_is_pooled_with_the_attempts_in_its_folder(tmp_path: Path) -> None:
    store(attempt_of(1.0, 1.0), tmp_path, make_cases(1.0, 1.0, output="now"))
    store(replace(attempt_of(0.0, 0.5), id="first"), tmp_path / f"{ATTEMPT}01", make_cases(0.0, 0.5, output="then"))
    stored = read_run(tmp_path)
    pooled, counted = pool_earlier(stored)
    assert counted == PooledRuns(2, 1)
    read = [(case.suite, case.hash, case.repeat, case.output, case.reused) for case in pooled.cases]
    assert read == [
        (0, "c0", 0, "now", None),
        (0, "c1", 0, "now", None),
        (0, "c0", 1, "then", "first"),
        (0, "c1", 1, "then", "first"),
    ]
    assert [case.key for case in pooled.suites[0].cases] == [pooled.suites[0].columns.key(row) for row in range(4)]
    assert len(list(stored.cases)) == 2
    assert build_totals(judge_pooled(stored, attempt_of(1.0, 1.0)).comparison).counts.trials == 4


@pytest.mark.parametrize("name", ["run.json", "cases.jsonl.gz"])
def test_a_damaged_copy_makes_the_run_unmeasurable(tmp_path: Path, name: str) -> None:
    """An attempt that was red could be lost, so the run is not green."""
    good = [1.0] * 400
    store(attempt_of(*good), tmp_path, make_cases(*good, output="now"))
    store(attempt_of(*good), tmp_path / f"{ATTEMPT}01", make_cases(*good, output="then"))
    assert judge_pooled(read_run(tmp_path), attempt_of(*good)).exit_code == 0
    path = tmp_path / f"{ATTEMPT}01" / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    damaged = read_run(tmp_path)
    assert damaged.notices[-1].startswith("the copy of an earlier run in attempt-01 is damaged: ")
    assert judge_pooled(damaged, attempt_of(*good)).exit_code == 3


def test_a_link_is_no_copy(tmp_path: Path) -> None:
    store(attempt_of(1.0), tmp_path / "run", make_cases(1.0, output="now"))
    store(attempt_of(0.0), tmp_path / "elsewhere", make_cases(0.0, output="then"))
    (tmp_path / "run" / f"{ATTEMPT}01").symlink_to(tmp_path / "elsewhere")
    assert read_run(tmp_path / "run").companions == {}


def test_a_comparison_without_attempts_has_no_section() -> None:
    judged = judge_pooled(attempt_of(*GOOD), attempt_of(*GOOD))
    assert judged.comparison.slots.get(POOLED) is None
    assert [section for step in load_all_steps() if step.name == "attempts" for section in step.sections(judged)] == []
