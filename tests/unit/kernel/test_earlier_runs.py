"""Earlier runs of the base's branch: they count only if nothing changed, and whole runs that move widen the test."""

from __future__ import annotations

import random
from array import array
from collections.abc import Sequence
from dataclasses import replace
from math import nan
from statistics import fmean, stdev
from typing import Any

import pytest
from tests.runs import change_run
from tests.unit.kernel.builders import ExampleSuite, mark_source, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.earlier_runs import leave_out_cases, mark_as_measured, select_unchanged
from scoregate.kernel.compare.run_movement import RunMovement, collect_run_means, measure_movement
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.runs.dependencies import (
    CarriedFrom,
    Dependency,
    RunDependencies,
    ScriptDependencies,
    check_dependencies,
    merge_shard_dependencies,
)
from scoregate.kernel.types.runs.history import history_after, merge_histories
from scoregate.kernel.types.runs.past_runs import History, PastRun, Score, SuiteHistory, SuiteMetrics
from scoregate.kernel.types.runs.run import Conditions, Run
from scoregate.kernel.types.runs.suite_states import digest_states

PROMPT = Dependency("file", "prompt.md", "a1")
FLAT = [1.0, 0.0] * 50


def make_dependencies(*uses: Dependency, name: str = "evals/demo.py", **fields: object) -> RunDependencies:
    script = ScriptDependencies(name, "launch", tuple(range(len(uses))), **fields)  # type: ignore[arg-type]
    return RunDependencies(uses, (script,), {"uv.lock": "1"}, {".csv": "2"})


def make_run(scores: Sequence[float], commit: str = "base", *uses: Dependency, finished: float = 1.0) -> Run:
    """A run with the recorded dependencies of its one suite."""
    return change_run(
        run_of(ExampleSuite(scored(*scores))),
        id=f"run {commit}",
        commit=commit,
        finished=finished,
        conditions=Conditions("code", "settings"),
        dependencies=make_dependencies(*(uses or (PROMPT,))),
    )


def compare_row(new: Run, base: Run, *earlier: Run) -> Row:
    (found,) = compare(new, base, earlier=earlier).rows
    return found


def test_the_same_uses_have_the_same_digest() -> None:
    base = make_run(FLAT)
    state = digest_states(base)
    assert list(state) == ["evals/demo.py"]
    other = Dependency("file", "z.md", "b")
    assert digest_states(make_run(FLAT, "x", PROMPT, other)) == digest_states(make_run(FLAT, "y", other, PROMPT))
    assert digest_states(make_run(FLAT, "x", PROMPT, other)) != state
    native = make_dependencies(PROMPT, native="polars")
    changed = (
        replace(base, dependencies=make_dependencies(Dependency("file", "prompt.md", "a2"))),
        replace(base, dependencies=replace(base.dependencies, shared={"uv.lock": "2"})),
        replace(base, dependencies=make_dependencies(PROMPT, modules=("app",))),
        replace(base, dependencies=native),
        replace(base, conditions=Conditions("code", "other")),
        change_run(base, version="1"),
    )
    assert len({str(digest_states(each)) for each in (base, *changed)}) == 7
    assert digest_states(replace(base, dependencies=replace(base.dependencies, data={".csv": "3"}))) == state
    assert digest_states(replace(base, dependencies=replace(native, data={".csv": "3"}))) != digest_states(changed[3])
    assert digest_states(replace(base, conditions=Conditions("other code", "settings"))) == state


def test_unknown_uses_have_no_digest() -> None:
    unknown = (
        make_dependencies(Dependency("file", "prompt.md", "?")),
        make_dependencies(PROMPT, unknown="it starts processes"),
        replace(make_dependencies(PROMPT), shared={"uv.lock": "?"}),
        replace(make_dependencies(PROMPT, native="polars"), data={".csv": "?"}),
        RunDependencies(),
    )
    for each in unknown:
        assert digest_states(replace(make_run(FLAT), dependencies=each)) == {}
    assert digest_states(replace(make_run(FLAT), conditions=None)) == {}


def test_only_unchanged_suites_of_whole_runs_count() -> None:
    base, earlier = make_run(FLAT), make_run(FLAT, "old")
    chosen = select_unchanged(earlier, base)
    assert chosen is not None
    assert chosen.suites[0].columns.scores["e"] == earlier.suites[0].columns.scores["e"]
    assert len(chosen.suites[0].columns.durations_ms) == 0
    (suite,) = earlier.suites
    spoiled = (
        make_run(FLAT, "old", Dependency("file", "prompt.md", "a2")),
        replace(earlier, suites=(replace(suite, complete=False),)),
        replace(earlier, suites=(mark_source(suite, carried=CarriedFrom("x", "main@x")),)),
        replace(earlier, id=base.id),
    )
    assert [select_unchanged(each, base) for each in spoiled] == [None] * 4
    carried = replace(base, suites=(mark_source(base.suites[0], carried=CarriedFrom(earlier.id, "main@old")),))
    assert select_unchanged(earlier, carried) is None
    assert select_unchanged(replace(earlier, id="another"), carried) is not None
    kept = replace(base, suites=(mark_source(base.suites[0], kept=CarriedFrom(earlier.id, "main@old")),))
    assert select_unchanged(earlier, kept) is None


@pytest.mark.parametrize("origin", ["carried", "kept"])
def test_results_that_runs_of_a_commit_share_count_once(origin: str) -> None:
    first, new = replace(make_run(FLAT), id="first"), make_run([0.0, 0.0, *FLAT[2:]], "new")
    (suite,) = make_run(FLAT).suites
    second = replace(first, id="second", suites=(mark_source(suite, **{origin: CarriedFrom("first", "main@first")}),))
    for base, other in ((first, second), (second, first)):
        comparison = compare(new, base, pool=(other,))
        assert (comparison.pooled, comparison.rows[0].base_runs.count) == (1, 1)
    comparison = compare(new, first, pool=(replace(first, id="second"),))
    assert (comparison.pooled, comparison.rows[0].base_runs.count) == (2, 2)


@pytest.mark.parametrize("origin", ["carried", "kept"])
def test_results_of_the_base_count_against_older_runs_that_lack_them(origin: str) -> None:
    run, older = make_run([0.0] * 60 + [1.0] * 40, "new"), make_run([1.0] * 100, "old")
    source = CarriedFrom("base", "main@base")
    run = replace(run, suites=(mark_source(run.suites[0], range(99), **{origin: source}),))
    (row,) = compare(mark_as_measured(run, older), older).rows
    assert (row.label, row.pairs.n, row.delta) == (RowLabel.WORSE, 100, -0.6)
    same_source = replace(older, suites=(mark_source(older.suites[0], kept=source),))
    assert mark_as_measured(run, same_source).suites == run.suites


def test_earlier_runs_count_as_repeats_of_the_base() -> None:
    base = make_run([1.0] * 100)
    new = make_run([1.0] * 92 + [0.0] * 8, "new")
    past = [found for index in range(4) if (found := select_unchanged(make_run([1.0] * 100, f"c{index}"), base))]
    alone, pooled = compare_row(new, base), compare_row(new, base, *past)
    assert (alone.base_runs.count, pooled.base_runs.count) == (1, 5)
    assert alone.delta == pooled.delta == pytest.approx(-0.08)


def make_earlier(base: Run, *runs: Sequence[float]) -> list[Run]:
    """Earlier runs with these scores, the newest first."""
    earlier = (make_run(scores, f"c{at}", finished=-float(at)) for at, scores in enumerate(runs))
    return [found for run in earlier if (found := select_unchanged(run, base))]


def test_runs_before_a_step_of_the_provider_do_not_count() -> None:
    """Three older runs are from before a step by −10 points, and the baseline was measured after it."""
    base, new = make_run(FLAT), make_run([*FLAT[:-4], 0.0, 0.0, 0.0, 0.0], "new")
    before = [1.0] * 20 + FLAT[20:]
    stepped = compare(new, base, earlier=make_earlier(base, before, before, before))
    assert stepped.rows[0].base_runs.count == 1
    assert stepped.rows[0].label is compare_row(new, base).label is RowLabel.NOISE
    assert stepped.earlier_runs == ()
    # the newest of them is from after it; a run behind the step doesn't count, whatever its scores
    some = compare(new, base, earlier=make_earlier(base, FLAT, before, FLAT)[::-1])
    assert some.rows[0].base_runs.count == 2
    assert [run.code.commit for run in some.earlier_runs] == ["c0"]


def test_a_run_agrees_if_chance_would_often_differ_as_much() -> None:
    """p is .66 if three cases fell and two rose, and .18 if four fell and one rose."""
    base = make_run(FLAT)
    for rose, base_runs in ((2, 2), (1, 1)):
        other = [0.0] * 5 + [float(case < 2 * rose) for case in range(5)] + FLAT[10:]
        assert [(a > b) - (a < b) for a, b in zip(other, FLAT, strict=True)].count(1) == rose
        assert compare_row(make_run(FLAT, "new"), base, *make_earlier(base, other)).base_runs.count == base_runs


def test_each_evaluator_goes_back_as_far_as_it_agrees() -> None:
    """A provider's step in one evaluator doesn't take the evidence of another one, and lost scores stay unknown."""
    before = [1.0] * 20 + FLAT[20:]

    def make_two(steady: Sequence[float], stepped: Sequence[float], commit: str) -> Run:
        run = make_run(steady, commit, finished=2.0 if commit == "base" else 1.0)
        (suite,) = run.suites
        scores = {**suite.columns.scores, "f": array("d", stepped)}
        infos = {**suite.evaluators, "f": EvaluatorInfo("f")}
        columns = replace(suite.columns, scores=scores)
        return replace(run, suites=(replace(suite.with_columns(columns), evaluators=infos),))

    base = make_two(FLAT, FLAT, "base")
    earlier = [each for at in range(3) if (each := select_unchanged(make_two(FLAT, before, f"c{at}"), base))]
    new = make_two(FLAT, [nan, *FLAT[1:]], "new")
    found = compare(new, base, earlier=earlier)
    assert {row.evaluator: row.base_runs.count for row in found.rows} == {"e": 4, "f": 1}
    assert [len(run.suites) for run in found.earlier_runs] == [1, 1, 1]
    (lost,) = [row for row in found.rows if row.evaluator == "f"]
    assert (lost.pairs.n, lost.lost.reasons) == (99, {"none": 1})


def test_without_history_nothing_differs() -> None:
    new, base = make_run([1.0] * 92 + [0.0] * 8, "new"), with_history(make_run([1.0] * 100), [0.5, 0.9] * 5)
    assert compare(new, base).rows == compare(new, replace(base, history=History())).rows


def test_cases_in_quarantine_are_excluded() -> None:
    base = make_run(FLAT)
    earlier = select_unchanged(make_run(FLAT, "old"), base)
    assert earlier is not None
    (suite,) = leave_out_cases(earlier, {(0, "c0"), (1, "c1")}).suites
    assert suite.columns.hashes == [f"c{index}" for index in range(1, 100)]
    assert list(suite.columns.scores["e"]) == FLAT[1:]
    assert leave_out_cases(earlier, {(1, "c1")}).suites == earlier.suites


def with_history(base: Run, means: Sequence[float], state: str = "", made_by: str = "") -> Run:
    """A base after runs with these means, by default in the same state."""
    own = state or digest_states(base)["evals/demo.py"]
    runs = tuple(
        PastRun(f"run {index}", float(index), SuiteMetrics(), commit=f"c{index}") for index in range(len(means))
    )
    suite = SuiteHistory(
        tuple(SuiteMetrics(0.5) for _ in means),
        {"e": tuple(Score(mean, 100, made_by) for mean in means)},
        tuple(own for _ in means),
    )
    return replace(base, history=History(runs, {"demo": suite}))


def test_means_of_runs_in_the_same_state() -> None:
    base = make_run(FLAT)
    states, (suite,) = digest_states(base), base.suites
    assert collect_run_means(with_history(base, [0.1, 0.2]), suite, states) == {"e": [0.1, 0.2, 0.5]}
    for source in ("carried", "kept"):  # an older run measured these scores, or a part of them
        other = mark_source(suite, **{source: CarriedFrom("x", "main@x")})
        assert collect_run_means(with_history(base, [0.1, 0.2]), other, states) == {"e": [0.1, 0.2]}
    assert collect_run_means(with_history(base, [0.1] * 20), suite, states) == {"e": [*[0.1] * 19, 0.5]}
    assert collect_run_means(with_history(base, [0.1], made_by="other"), suite, states) == {"e": [0.5]}
    assert collect_run_means(with_history(base, [0.1], "another state"), suite, states) == {"e": [0.5]}
    assert collect_run_means(with_history(base, [0.1]), suite, {}) == {}


def test_a_history_has_states() -> None:
    base = make_run(FLAT, "one")
    state = digest_states(base)["evals/demo.py"]
    first = history_after(base)
    assert first.suites["demo"].states == (state,)
    second = replace(make_run(FLAT, "two", Dependency("file", "b", ""), finished=2.0), history=first)
    third = change_run(run_of(ExampleSuite(scored(*FLAT))), commit="three", finished=3.0, history=history_after(second))
    states = history_after(third).suites["demo"].states
    assert (states[0], states[2]) == (state, None)
    assert states[1] not in (None, state)
    assert merge_histories(history_after(third), first).suites["demo"].states == states
    assert history_after(run_of(ExampleSuite(scored(*FLAT)))).suites["demo"].states == ()


@pytest.fixture(scope="module")
def stats() -> Any:
    """Imported late: each worker collects this file, and one runs it."""
    return pytest.importorskip("scipy.stats")


def test_movement_of_runs_widens_the_interval(stats: Any) -> None:
    new = make_run([1.0] * 30 + [0.0] * 70, "new")
    means = [0.4, 0.6, 0.45, 0.55, 0.5, 0.35, 0.65, 0.5, 0.48]
    base = with_history(make_run([1.0] * 50 + [0.0] * 50), means)
    plain, wide = compare(new, base).rows[0], compare_row(new, base)
    assert (plain.label, wide.label) == (RowLabel.WORSE, RowLabel.NOISE)
    assert plain.base_runs.movement is None
    assert wide.base_runs.movement is not None
    assert (wide.base_runs.movement.runs, wide.base_runs.movement.pooled) == (10, 1)
    assert wide.base_runs.movement.deviation == pytest.approx(stdev([*means, 0.5]))
    # with as many trials on both sides, the standard error is that of a run's mean, times the root of two
    error = wide.base_runs.movement.deviation * 2**0.5
    assert wide.estimate.p == pytest.approx(2 * stats.t.sf(0.2 / error, 9))
    assert wide.estimate.low == pytest.approx(-0.2 - stats.t.isf(0.025, 9) * error)
    assert wide.estimate.detectable == pytest.approx((stats.t.isf(0.025, 9) + stats.t.isf(0.2, 9)) * error)
    four = with_history(make_run([1.0] * 50 + [0.0] * 50), [0.3, 0.7, 0.4])
    assert compare_row(new, four).base_runs.movement is None
    assert compare_row(new, four).estimate.p == plain.estimate.p


def test_cases_that_vary_explain_means_that_vary() -> None:
    source = random.Random(1)
    widened = 0
    for _ in range(400):
        means = [source.gauss(0.5, 0.02) for _ in range(10)]
        movement = measure_movement(means, 0.02 * 2**0.5, trials=1, base_trials=1, pooled=1)
        assert movement is not None
        widened += bool(movement.excess)
    assert 60 < widened < 140  # a quarter
    steady = measure_movement([0.5] * 10, 0.02, trials=1, base_trials=5, pooled=5)
    assert steady is not None
    assert (steady.excess, steady.widen_error(0.02)) == (0.0, 0.02)
    shared = measure_movement([0.4, 0.6] * 5, 0.02, trials=1, base_trials=1, pooled=5)
    assert shared is not None
    assert shared.pooled == 1  # five runs with the same stored answers


def test_a_baseline_of_several_runs_moves_less() -> None:
    means, error = [0.4, 0.6] * 5, 0.02
    for pooled, base_trials, counted in ((1, 1, 1), (5, 5, 5), (5, 2.6, 3), (3, 5, 3), (5, 0.4, 1)):
        movement = measure_movement(means, error, trials=1, base_trials=base_trials, pooled=pooled)
        assert movement is not None
        explained = error**2 * counted / (1 + base_trials)
        excess = (stdev(means) ** 2 - explained) ** 0.5
        assert (movement.pooled, movement.runs) == (counted, 10)
        assert movement.excess == pytest.approx(excess)
        assert movement.widen_error(error) == pytest.approx((error**2 + excess**2 * (1 + 1 / counted)) ** 0.5)


def test_movement_needs_five_runs_and_a_known_error() -> None:
    def measure(means: Sequence[float], error: float = 0.02, base_trials: float = 1) -> bool:
        return measure_movement(means, error, trials=1, base_trials=base_trials, pooled=1) is not None

    assert measure([0.5] * 5)
    assert not measure([0.5] * 4)
    assert not measure([0.5] * 5, float("inf"))
    assert not measure([0.5] * 5, base_trials=0)


def test_shards_of_a_script_have_one_digest() -> None:
    other = Dependency("file", "other.md", "b2")
    name = "evals/demo.py"
    both = merge_shard_dependencies([(make_dependencies(PROMPT), [name]), (make_dependencies(other), [name])])
    assert [[both.table[use] for use in each.uses] for each in both.find_scripts(name)] == [[PROMPT], [other]]
    swapped = merge_shard_dependencies([(make_dependencies(other), [name]), (make_dependencies(PROMPT), [name])])
    states = [
        digest_states(replace(make_run(FLAT), dependencies=each)) for each in (both, swapped, make_dependencies(PROMPT))
    ]
    assert states[0] == states[1] != states[2]
    lacking = merge_shard_dependencies([(make_dependencies(PROMPT), [name]), (RunDependencies(), [name])])
    assert [each.unknown for each in lacking.find_scripts(name)] == ["", "a shard did not record it"]
    assert digest_states(replace(make_run(FLAT), dependencies=lacking)) == {}
    elsewhere = replace(make_dependencies(other), shared={"uv.lock": "2"})
    assert not merge_shard_dependencies([(make_dependencies(PROMPT), [name]), (elsewhere, [name])]).is_recorded
    assert not merge_shard_dependencies([(RunDependencies(), [name])] * 2).is_recorded


@pytest.mark.parametrize("runs", [5, 8, 20])
def test_movement_is_explained_below_the_upper_quarter_of_the_distribution(runs: int, stats: Any) -> None:
    """The variance of means whose cases explain it follows a χ² distribution with k − 1 degrees of freedom."""
    error = 0.02
    explained = error**2 / 2
    for factor, is_explained in ((0.996, True), (1.004, False)):
        variance = factor * explained * stats.chi2.ppf(0.75, runs - 1) / (runs - 1)
        spread = [float(index) for index in range(runs)]
        means = [0.5 + (value - fmean(spread)) * (variance**0.5 / stdev(spread)) for value in spread]
        movement = measure_movement(means, error, trials=1, base_trials=1, pooled=1)
        assert movement is not None
        assert movement.deviation**2 == pytest.approx(variance)
        assert (movement.excess == 0.0) is is_explained


def test_movement_has_a_p_for_each_direction(stats: Any) -> None:
    movement = RunMovement(deviation=0.05, excess=0.05, runs=8)
    for change in (-0.12, 0.12, 0.0):
        lower, upper = movement.one_sided_p(change, 0.03)
        expected = stats.t.cdf(change / (0.03**2 + 2 * 0.05**2) ** 0.5, 7)
        assert (lower, upper) == (pytest.approx(expected), pytest.approx(1 - expected))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, ""),
        ({"table": (Dependency("file", "../secret", "a"),)}, "a path is not in the repository"),
        ({"table": (Dependency("file", "/etc/passwd", "a"),)}, "a path is not in the repository"),
        ({"table": (Dependency("file", "x" * 5_000, "a"),)}, "a path is too long"),
        ({"shared": {"x" * 5_000: "1"}}, "a path is too long"),
        ({"data": {"x" * 5_000: "1"}}, "a path is too long"),
        ({"table": ()}, "a script uses an unknown dependency"),
    ],
)
def test_dependencies_of_a_file_are_checked(change: dict[str, Any], problem: str) -> None:
    dependencies = replace(make_dependencies(PROMPT), **change)
    if not problem:
        check_dependencies(dependencies)
        return
    with pytest.raises(ValueError, match=problem):
        check_dependencies(dependencies)
