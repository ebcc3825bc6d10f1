"""Scores that sink slowly: which runs count, and when the newest ones are lower than the older ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import pytest
from tests.runs import change_run
from tests.unit.kernel.builders import ExampleSuite, info, run_of, scored

from scoregate.features.alert.slow_decline import SlowDecline, decline_p, find_slow_declines
from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.types.runs.dependencies import RunDependencies, ScriptDependencies
from scoregate.kernel.types.runs.history import history_after
from scoregate.kernel.types.runs.run import Conditions, Run

NIGHT = 24 * 3600.0
CASES = 100
FALLING = (0, 1, 0, 1, 0, 1, 3, 5, 7, 9, 11)


def make_run(night: int, failing: int, *, cases: int = CASES, **given: Any) -> Run:
    """A run of a night in which so many cases fail; without other values, all are of one commit."""
    scores = [0.0] * failing + [1.0] * (cases - failing)
    run = run_of(ExampleSuite(scored(*scores), evaluators=(info("e", prompt=given.pop("prompt", "p")),)))
    fields = {"id": f"run {night}", "commit": "a", "branch": "main", "finished": night * NIGHT, **given}
    return change_run(run, **fields)


def compare_last(runs: Sequence[Run]) -> Comparison:
    last = runs[0]
    for each in runs[1:]:
        base, last = last, replace(each, history=history_after(last))
    return compare(last, base)


def find(runs: Sequence[Run], *, min_effect: float = 0.01) -> list[SlowDecline]:
    return list(find_slow_declines(compare_last(runs), min_effect=min_effect))


def nights(failing: Sequence[int] = FALLING, **given: Any) -> list[Run]:
    return [make_run(night, each, **given) for night, each in enumerate(failing)]


def test_the_newest_five_are_compared_with_the_older_ones() -> None:
    (found,) = find(nights())
    assert (found.suite, found.evaluator, found.older) == ("demo", "e", 6)
    assert (found.before, found.now) == (pytest.approx(0.995), pytest.approx(0.93))


@pytest.mark.parametrize("failing", [(0, 1, 0, 1, 2, 0, 1, 0, 1, 2, 1), tuple(reversed(FALLING)), (3,) * 11])
def test_noise_and_a_rise_are_no_decline(failing: Sequence[int]) -> None:
    assert not find(nights(failing))


def test_one_bad_night_is_no_slow_decline() -> None:
    assert not find(nights((0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 30)))


def test_nine_runs_are_too_few() -> None:
    assert not find(nights((0, 1, 0, 1, 1, 3, 5, 7, 9)))
    assert find(nights((0, 1, 0, 1, 0, 1, 3, 5, 7, 9)))


def test_at_most_twenty_runs_count() -> None:
    (found,) = find(nights((40,) * 5 + (0, 1) * 8 + (3, 5, 7, 9, 11)))
    assert found.older == 15
    assert found.before == pytest.approx(0.995, abs=0.001)


def test_a_small_decline_is_ignored() -> None:
    assert not find(nights(), min_effect=0.07)
    assert find(nights(), min_effect=0.06)


def test_the_scores_of_a_run_share_the_level() -> None:
    """The same decline, beside scores of other evaluators that are steady."""
    falling = (0, 2, 0, 2, 0, 2, 3, 4, 5, 5, 6)
    assert 0.001 / 40 < decline_p([1 - each / CASES for each in falling]) < 0.001
    assert find(nights(falling))
    names = [f"e{number}" for number in range(40)]

    def make_night(night: int, failing: int) -> Run:
        cases = {f"c{at}": {"e": float(at >= failing), **dict.fromkeys(names, 1.0)} for at in range(CASES)}
        suite = ExampleSuite(cases, evaluators=tuple(info(name) for name in ("e", *names)))
        return change_run(run_of(suite), id=f"run {night}", commit="a", finished=night * NIGHT)

    assert not find([make_night(night, failing) for night, failing in enumerate(falling)])
    assert find([make_night(night, failing) for night, failing in enumerate(FALLING)])


@pytest.mark.parametrize(
    "change",
    [{"commit": "b"}, {"dirty": True}, {"complete": False}, {"prompt": "q"}],
    ids=["commit", "dirty", "incomplete", "evaluator"],
)
def test_runs_with_a_change_do_not_count(change: dict[str, Any]) -> None:
    runs = nights()
    changed = [make_run(night, each, **change) for night, each in enumerate(FALLING[:3])]
    assert not find([*changed, *runs[3:]])


def test_runs_of_other_commits_count_if_they_recorded_that_nothing_changed() -> None:
    known = RunDependencies((), (ScriptDependencies("evals/demo.py", "launch"),))
    runs = [change_run(each, commit=f"{at}") for at, each in enumerate(nights())]
    assert not find(runs)
    recorded = [replace(each, conditions=Conditions("", ""), dependencies=known) for each in runs]
    assert {suite.script for suite in recorded[0].suites} == {"evals/demo.py"}
    assert find(recorded)
    assert not find([change_run(each, version="1") if at < 3 else each for at, each in enumerate(recorded)])


def test_a_run_with_fewer_scores_does_not_count() -> None:
    runs = nights()
    assert not find([*runs[:-1], make_run(10, 11, cases=80)])
    assert find([make_run(0, 40, cases=80), *(replace(each, id=f"{each.id}+") for each in runs)])


def test_cached_and_partial_runs_find_nothing() -> None:
    comparison = compare_last(nights())
    (suite,) = comparison.run.suites
    assert list(find_slow_declines(comparison, min_effect=0.01))
    suite.columns.cached.add(0)
    assert not list(find_slow_declines(comparison, min_effect=0.01))
    suite.columns.cached.clear()
    part = replace(comparison, run=change_run(comparison.run, complete=False))
    assert not list(find_slow_declines(part, min_effect=0.01))


def test_lower_can_be_better() -> None:
    assert not find(nights(FALLING[::-1]))
    rows = compare_last(nights(FALLING[::-1]))
    lower = replace(rows, rows=tuple(replace(row, higher_is_better=False) for row in rows.rows))
    (found,) = find_slow_declines(lower, min_effect=0.01)
    assert found.now > found.before


def test_the_p_is_that_of_students_t() -> None:
    """By hand: five means of .8, then five of .7; one of nine differences is .1."""
    stats: Any = pytest.importorskip("scipy.stats")
    t = -0.1 / sqrt(0.1**2 / 18 * (1 / 5 + 1 / 5))
    assert decline_p([0.8] * 5 + [0.7] * 5) == pytest.approx(stats.t.cdf(t, 6.75), abs=1e-9)
    assert decline_p([0.8] * 10) == 1
    assert decline_p([0.7] * 5 + [0.8] * 5) == 1


def test_a_part_of_the_cases_shows_no_decline() -> None:
    *before, last = nights()
    assert find([*before, change_run(last, selection="-k refund")]) == []
    assert find([*before, change_run(last, complete=False)]) == []
