"""Rankings of variants: which may be the best, what can't be compared, and how many cases would tell."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import pytest
from tests.unit.kernel.builders import ERROR, ExampleSuite, info, run_of, scored

from scoregate.kernel.compare.variants import (
    MOST_VARIANTS,
    VariantRanking,
    VariantState,
    group_variants,
    list_names,
    rank_suites,
)
from scoregate.kernel.types.runs.policy import Criteria, EvaluatorCriteria


def flips(count: int, failing: Sequence[int] = ()) -> list[Any]:
    return [0.0 if index in failing else 1.0 for index in range(count)]


def variant(name: str, scores: Sequence[Any], **fields: Any) -> ExampleSuite:
    return ExampleSuite(scored(*scores), params={"task": name}, **fields)


def rank(*variants: ExampleSuite, criteria: Criteria | None = None, difference: float = 0.05) -> VariantRanking:
    found = criteria or Criteria()
    (ranking,) = rank_suites(run_of(*variants).suites, lambda _: found, difference=difference)
    return ranking


def states_of(ranking: VariantRanking) -> dict[str, str]:
    return {row.name: str(row.state) for row in ranking.rows}


def test_one_variant_is_the_best() -> None:
    ranking = rank(variant("b", flips(60, range(20))), variant("a", flips(60)), variant("c", flips(60, range(40))))
    assert states_of(ranking) == {"a": "best", "b": "worse", "c": "worse"}
    assert [(row.rank, row.last_rank) for row in ranking.rows] == [(1, 1), (2, 2), (3, 3)]
    assert ranking.best is not None
    assert (ranking.best.name, ranking.best.low, ranking.needed_cases) == ("a", None, None)
    second = ranking.rows[1]
    assert second.delta == pytest.approx(-1 / 3)
    assert second.low is not None
    assert second.high is not None
    assert second.low < -1 / 3 < second.high < 0
    assert ranking.describe() == "a is the best of 3 variants at 60 cases (95% confidence)."


def test_variants_that_cannot_be_distinguished_share_the_first_ranks() -> None:
    ranking = rank(variant("a", flips(60, [1])), variant("b", flips(60, range(30))), variant("c", flips(60, [2, 3])))
    assert states_of(ranking) == {"a": "may be the best", "c": "may be the best", "b": "worse"}
    assert [(row.rank, row.last_rank) for row in ranking.rows] == [(1, 2), (1, 2), (3, 3)]
    assert ranking.best is None
    assert [row.name for row in ranking.candidates] == ["a", "c"]
    assert ranking.describe().startswith("a and c can't be distinguished at 60 cases. It takes about ")
    assert ranking.needed_cases is not None
    assert ranking.needed_cases > 60
    easier = rank(variant("a", flips(60, [1])), variant("c", flips(60, [2, 3])), difference=0.3)
    assert easier.needed_cases is not None
    assert easier.needed_cases < ranking.needed_cases
    three = rank(*(variant(name, flips(60, [index])) for index, name in enumerate("xyz")))
    assert three.describe().startswith("Any of x, y and z may be the best: 60 cases can't decide.")


def test_the_leader_of_equal_variants_is_told_to_be_too_high() -> None:
    """By hand: two variants differ in four of 60 cases, so the error of their difference is √(4 / 59 / 60) = .0336."""
    names = {"a": [0, 1], "b": [2, 3]}
    ranking = rank(*(variant(name, flips(60, failing)) for name, failing in names.items()))
    assert ranking.optimism == pytest.approx(0.0336 / sqrt(2) * 0.5895, abs=1e-4)  # the best of two: .59 of an error
    assert ranking.describe().endswith(" If they are equally good, the leader's score is about 0.014 too high.")
    lower = replace(ranking, higher_is_better=False)
    assert lower.describe().endswith(" If they are equally good, the leader's score is about 0.014 too low.")
    many = rank(*(variant(f"{index}", flips(60, [2 * index, 2 * index + 1])) for index in range(12)))
    assert many.optimism == pytest.approx(0.0336 / sqrt(2) * 1.6353, abs=1e-4)


def test_a_best_variant_and_equal_scores_have_no_optimism() -> None:
    assert rank(variant("b", flips(60, range(20))), variant("a", flips(60))).optimism is None
    equal = rank(variant("a", flips(60)), variant("b", flips(60)))
    assert equal.optimism == 0
    assert equal.describe().endswith("to detect a difference of 0.05.")


def test_equal_variants_stay_equal() -> None:
    ranking = rank(variant("a", flips(60)), variant("b", flips(60)))
    assert states_of(ranking) == {"a": "may be the best", "b": "may be the best"}
    assert ranking.rows[1].delta == 0


def test_lower_can_be_better() -> None:
    low, high = flips(60, range(50)), flips(60, range(10))
    for options in ({"evaluators": [info(higher_is_better=False)]}, {}):
        criteria = Criteria(evaluators={"e": EvaluatorCriteria(higher_is_better=False)}) if not options else None
        ranking = rank(variant("high", high, **options), variant("low", low, **options), criteria=criteria)
        assert not ranking.higher_is_better
        assert [row.name for row in ranking.rows] == ["low", "high"]
        assert ranking.rows[0].state is VariantState.BEST
        assert ranking.rows[1].delta == pytest.approx(2 / 3)
        assert ranking.rows[1].low is not None
        assert ranking.rows[1].low > 0


def test_a_variant_with_many_missing_scores_is_never_ranked() -> None:
    broken = [ERROR if index < 20 else 1.0 for index in range(60)]
    ranking = rank(variant("a", flips(60, range(6))), variant("broken", broken), variant("b", flips(60, range(50))))
    assert states_of(ranking) == {"a": "best", "b": "worse", "broken": "not comparable"}
    row = ranking.rows[-1]
    assert (row.rank, row.mean, row.errors, row.missing, row.scored) == (None, 1.0, 20, 20, 40)
    assert row.reason == "20 of 60 cases have no score"
    assert ranking.cases == 60
    skips = rank(variant("a", flips(60)), variant("b", flips(60)), variant("skips", [None] * 30 + flips(30)))
    assert skips.rows[-1].reason == "30 of 60 cases have no score"
    ended = rank(variant("a", flips(60)), variant("b", flips(60)), variant("cut", flips(60), complete=False))
    assert ended.rows[-1].reason == "it did not finish"


def test_few_missing_scores_leave_the_cases_that_all_have() -> None:
    few = [ERROR, ERROR, *flips(58)]
    ranking = rank(variant("few", few), variant("b", flips(60, [0, 1])))
    assert ranking.cases == 58
    assert [row.mean for row in ranking.rows] == [1.0, 1.0]
    assert {row.name: (row.missing, row.errors) for row in ranking.rows} == {"few": (2, 2), "b": (0, 0)}


def test_missing_ranks_have_reasons() -> None:
    few = rank(variant("a", flips(9, [0, 1, 2])), variant("b", flips(9)))
    assert few.describe() == "Not ranked: only 9 cases have a score in each variant, and ranks need 10."
    assert [(row.name, row.rank, row.low, str(row.state)) for row in few.rows] == [
        ("b", None, None, "not ranked"),
        ("a", None, None, "not ranked"),
    ]
    alone = rank(variant("a", flips(60)), variant("b", [ERROR] * 60))
    assert alone.reason == "fewer than two variants can be compared"
    none = rank(variant("a", [1.0] * 5 + [None] * 55), variant("b", [None] * 5 + [1.0] * 55))
    assert none.reason == "fewer than two variants can be compared"
    other = rank(variant("a", flips(60), evaluators=[info(source="1")]), variant("b", flips(60)))
    assert other.reason == "the scorer is not the same for all variants"
    many = rank(*(variant(f"v{index}", flips(12)) for index in range(MOST_VARIANTS + 1)))
    assert many.reason == f"there are more than {MOST_VARIANTS} variants"
    assert len(many.rows) == MOST_VARIANTS + 1


def test_variants_are_suites_of_one_id_and_file_with_parameters() -> None:
    suites = run_of(
        ExampleSuite(scored(1.0), params={"model": "small", "k": 1}),
        ExampleSuite(scored(1.0), params={"model": "small", "k": 2}),
        ExampleSuite(scored(1.0), params={"model": "small", "k": 1}, script="other.py"),
        ExampleSuite(scored(1.0), id="single", params={"k": 1}),
        ExampleSuite(scored(1.0), id="plain"),
    ).suites
    (group,) = group_variants(suites)
    assert list_names(group) == ["model=small, k=1", "model=small, k=2"]
    assert list_names([group[0], group[0]]) == ["model=small, k=1", "model=small, k=1 #2"]
    (long,) = list_names(run_of(ExampleSuite(scored(1.0), params={"task": "x" * 10_000})).suites)
    assert len(long) == 200


def test_each_evaluator_with_a_score_has_a_ranking_the_largest_difference_first() -> None:
    cases = {f"c{index}": {"z": 1.0, "b": 0.5, "silent": None} for index in range(12)}
    suites = [
        ExampleSuite(cases, evaluators=[info(name) for name in ("z", "silent", "b")], params={"k": index})
        for index in (1, 2)
    ]
    run = run_of(*suites)
    rankings = list(rank_suites(run.suites, lambda _: Criteria()))
    assert [(ranking.evaluator, ranking.suite) for ranking in rankings] == [("b", "demo"), ("z", "demo")]
    for suite in run.suites:
        del suite.columns.judged["b"]
    assert [ranking.evaluator for ranking in rank_suites(run.suites, lambda _: Criteria())] == ["z", "b"]
    run.suites[1].columns.scores["b"][0] = 0.0  # now the variants differ by it
    assert [ranking.evaluator for ranking in rank_suites(run.suites, lambda _: Criteria())] == ["b", "z"]
    assert list(rank_suites(run.suites[:1], lambda _: Criteria())) == []


def test_variants_are_seldom_worse_by_chance() -> None:
    source, wrong, runs = random.Random(7), 0, 60
    for _ in range(runs):
        drawn = [variant(str(index), [float(source.random() < 0.7) for _ in range(40)]) for index in range(6)]
        wrong += any(row.state is VariantState.WORSE for row in rank(*drawn).rows)
    assert wrong <= 0.15 * runs
