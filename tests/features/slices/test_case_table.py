"""Pairs of slices from the table of scores equal those of the cases."""

from __future__ import annotations

import random

from scoregate.features.slices.case_table import make_case_table
from scoregate.kernel.compare.pairing import Side, pair_sides


def make_side(source: random.Random, cases: list[str], missing: float) -> Side:
    means = {case: source.choice((0.0, 0.25, 1.0, source.random())) for case in cases if source.random() >= missing}
    errored = frozenset(case for case in cases if case not in means and source.random() < 0.5)
    return Side(lambda: iter(means.items()), means, {}, errored)


def test_a_table_pairs_the_cases_of_a_slice() -> None:
    source = random.Random(1)
    found = []
    for missing, base_missing in ((0.0, 0.0), (0.0, 0.3), (0.02, 0.3)) * 40:
        cases = [f"case {index}" for index in range(40)]
        new, baseline = make_side(source, cases, missing), make_side(source, [*cases, "gone"], base_missing)
        table = make_case_table(cases, new, baseline, {})
        assert table is not None
        rows = sorted(source.sample(range(40), source.randint(1, 40)))
        members = [cases[row] for row in rows]
        selected, base_selected = new.select(members, {}), baseline.select(members, {})
        pairs = table.pair(rows)
        found.append(pairs is not None)
        if pairs is None:
            assert not base_selected.means or base_selected.means.keys() - selected.means.keys()
        else:
            assert pairs == pair_sides(selected, base_selected, {})
            assert base_selected.means.keys() <= selected.means.keys()
    assert {True, False} == set(found)


def test_clusters_and_several_trials_have_no_table() -> None:
    once = Side(lambda: iter(()), {"a": 1.0}, {})
    twice = Side(lambda: iter(()), {"a": 0.5}, {"a": 2})
    assert make_case_table(["a"], once, once, {}) is not None
    assert make_case_table(["a"], once, once, {"a": "group"}) is None
    assert make_case_table(["a"], twice, once, {}) is None
    assert make_case_table(["a"], once, twice, {}) is None
