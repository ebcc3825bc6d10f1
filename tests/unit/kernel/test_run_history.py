"""Runs have a bounded history of earlier runs, oldest first, without themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json
from tests.runs import change_run
from tests.unit.kernel.builders import ERROR, ExampleSuite, info, run_of, scored

from scoregate.kernel.types.runs.history import history_after, merge_histories, with_history_of
from scoregate.kernel.types.runs.past_runs import (
    MAX_HISTORY_BYTES,
    MAX_TEXT_LENGTH,
    MOST_RUNS,
    MOST_SERIES,
    History,
    Score,
)
from scoregate.kernel.types.runs.run import Run

COMMITS = st.sampled_from([None, "a", "b", "c", "d"])
Step: TypeAlias = tuple[str | None, bool, set[str]]
STEPS = st.tuples(COMMITS, st.booleans(), st.sets(st.sampled_from(["x", "y", "z"])))


def run(at: int, *suites: ExampleSuite, commit: str | None = None, dirty: bool = False) -> Run:
    made = run_of(*suites)
    return change_run(made, id=f"run-{at}", finished=float(at), commit=commit, dirty=dirty, branch="main")


def run_chain(*runs: Run) -> Run:
    """The last of these runs, each the base of the next."""
    last = runs[0]
    for each in runs[1:]:
        last = with_history_of(each, history_after(last))
    return last


def list_means(history: History, suite: str = "demo", evaluator: str = "e") -> list[float | None]:
    return [None if point is None else point.mean for point in history.suite_history(suite).scores[evaluator]]


def test_a_run_has_results_of_earlier_runs() -> None:
    first = run(1, ExampleSuite(scored(1.0, 0.0, 0.0, ERROR)), commit="a")
    history = run_chain(
        first, run(2, ExampleSuite(scored(1.0, 1.0)), commit="b"), run(3, ExampleSuite(scored(0.0)), commit="c")
    ).history
    assert [past.id for past in history.runs] == ["run-1", "run-2"]
    assert list_means(history) == [pytest.approx(1 / 3, abs=1e-6), 1.0]
    assert [point.n for point in history.suite_history("demo").scores["e"] if point] == [3, 2]
    assert history.runs[0].took.pass_rate == pytest.approx(1 / 3, abs=1e-6)
    assert history.suite_history("demo").took[1] == history.runs[1].took


def test_missing_values_are_no_numbers() -> None:
    both = ExampleSuite({"c": {"e": 1.0, "f": 0.5}}, evaluators=(info("e"), info("f")))
    other = ExampleSuite(scored(0.5), id="other", script="evals/other.py")
    history = run_chain(
        run(1, both), run(2, ExampleSuite(scored(0.0)), other), run(3, both, other), run(4, both)
    ).history
    assert list_means(history, evaluator="f") == [0.5, None, 0.5]
    assert list_means(history, "other") == [None, 0.5, 0.5]
    assert list_means(history) == [1.0, 0.0, 1.0]


def test_a_newer_run_of_a_commit_replaces_the_earlier_one() -> None:
    suite = ExampleSuite(scored(1.0))
    again = run_chain(run(1, suite, commit="a"), run(2, suite, commit="b"), run(3, suite, commit="a"), run(4, suite))
    assert [past.id for past in again.history.runs] == ["run-2", "run-3"]
    dirty = run_chain(run(1, suite, commit="a", dirty=True), run(2, suite, commit="a", dirty=True), run(3, suite))
    assert [past.id for past in dirty.history.runs] == ["run-1", "run-2"]


def test_a_later_run_of_a_commit_is_a_measurement_of_its_own() -> None:
    """A nightly job measures the same commit again. A job that runs again within an hour replaces its first attempt."""
    suite = ExampleSuite(scored(1.0))
    times = {"night 1": 0.0, "again": 3599.0, "night 2": 86400.0, "night 3": 172800.0}
    nights = [change_run(run(0, suite, commit="a"), id=name, finished=at) for name, at in times.items()]
    history = run_chain(*nights, run(9, suite)).history
    assert [past.id for past in history.runs] == ["again", "night 2", "night 3"]
    first, last = history_after(run_chain(*nights[:3])), history_after(run_chain(nights[0], *nights[2:]))
    merged = merge_histories(first, last)
    assert [past.id for past in merged.runs] == ["again", "night 2", "night 3"]
    assert list_means(merged) == [1.0] * 3


def test_a_history_without_common_suites_is_dropped() -> None:
    assert (
        with_history_of(
            run(2, ExampleSuite(scored(1.0), id="mine")), history_after(run(1, ExampleSuite(scored(1.0))))
        ).history
        == History()
    )


def test_a_changed_evaluator_has_another_digest() -> None:
    versions = [ExampleSuite(scored(1.0), evaluators=(info(prompt=prompt),)) for prompt in "aab"]
    history = history_after(run_chain(*(run(index, mark) for index, mark in enumerate(versions))))
    one, same, other = (point.made_by if point else "" for point in history.suite_history("demo").scores["e"])
    assert one == same != other
    unknown = history_after(run(1, ExampleSuite(scored(1.0)))).suite_history("demo").scores["e"][0]
    assert unknown == Score(1.0, 1, "")


@given(st.lists(STEPS, max_size=30))
def test_a_history_is_bounded_oldest_first_and_has_each_run_once(line: list[Step]) -> None:
    last = run(0, ExampleSuite(scored(1.0)))
    for index, (commit, dirty, evaluators) in enumerate(line, 1):
        names = sorted(evaluators | {"e"})
        suite = ExampleSuite({"c": dict.fromkeys(names, index / 40)}, evaluators=tuple(map(info, names)))
        last = with_history_of(run(index, suite, commit=commit, dirty=dirty), history_after(last))
        history = last.history
        assert len(history.runs) <= MOST_RUNS
        times = [past.finished for past in history.runs]
        assert times == sorted(set(times))
        assert last.id not in {past.id for past in history.runs}
        clean = [past.commit for past in history.runs if past.commit and not past.dirty]
        assert len(clean) == len(set(clean))
        assert {len(each) for each in history.series()} == {len(history.runs)}
        assert list_means(history)[-1] == pytest.approx((index - 1) / 40 if index > 1 else 1.0, abs=1e-6)
        assert with_history_of(last, history) == last


def test_columns_that_do_not_fit_are_dropped() -> None:
    names = [f"e{index}" for index in range(MOST_SERIES + 50)]
    suite = ExampleSuite({"c": dict.fromkeys(names, 0.5)}, evaluators=tuple(map(info, names)))
    history = run_chain(run(1, suite), run(2, suite), run(3, suite)).history
    assert sum(1 for _ in history.series()) == MOST_SERIES
    assert {len(each) for each in history.series()} == {2}


def test_very_long_names_leave_room_for_others() -> None:
    names = ["n" * MAX_HISTORY_BYTES, *(f"{index}" * 9000 for index in range(10, 60)), "short"]
    suite = ExampleSuite({"c": dict.fromkeys(names, 0.5)}, evaluators=tuple(map(info, names)))
    newest = change_run(run(1, suite), message="é" * 1000, branch="b" * 1000)
    history = run_chain(*(replace(newest, id=f"{index}") for index in range(30))).history
    assert len(to_json(history)) <= MAX_HISTORY_BYTES
    assert names[0] not in history.suite_history("demo").scores
    assert list_means(history, evaluator="short") == [0.5] * MOST_RUNS
    assert history.runs[0].message == "é" * MAX_TEXT_LENGTH
    assert history.runs[0].branch == "b" * MAX_TEXT_LENGTH


def test_merged_histories_are_chronological_without_repeats() -> None:
    start, suite = run(1, ExampleSuite(scored(1.0)), commit="a"), ExampleSuite(scored(0.0))
    ours = run_chain(start, run(2, suite, commit="b"), run(4, suite))
    theirs = run_chain(start, run(3, suite, commit="c"), run(5, suite, commit="b"))
    history = merge_histories(history_after(ours), history_after(theirs))
    assert [past.id for past in history.runs] == ["run-1", "run-3", "run-4", "run-5"]
    assert list_means(history) == [1.0, 0.0, 0.0, 0.0]
    assert merge_histories(history_after(theirs), history_after(ours)) == history


def test_merged_histories_are_bounded_and_unrelated_ones_stay() -> None:
    suite = ExampleSuite(scored(1.0))
    ours, theirs = (run_chain(*(run(index, suite) for index in range(start, start + 40, 2))) for start in (1, 2))
    assert [past.id for past in merge_histories(history_after(ours), history_after(theirs)).runs] == [
        f"run-{index}" for index in range(21, 41)
    ]
    unrelated = history_after(run(9, ExampleSuite(scored(1.0), id="other", script="evals/other.py")))
    assert merge_histories(history_after(ours), unrelated) == history_after(ours)
