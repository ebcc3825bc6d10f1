"""Cases in declared clusters: their trials are permuted together, repeat by repeat."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations, product
from statistics import fmean

import pytest
from tests.unit.stats.builders import Scores, columns_of, compared, row_of, run_of, suite_of

from scoregate.kernel.compare import ratios
from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.compare.estimates import estimate_difference, one_sided_p
from scoregate.kernel.compare.pairing import Pairs, Side, case_clusters, pair_scores, pair_sides, quantity_side
from scoregate.kernel.compare.ratios import compute_total_ratio, p95_test, total_test
from scoregate.kernel.compare.statistics import significance
from scoregate.kernel.compare.statistics.intervals import measure_spread
from scoregate.kernel.compare.statistics.significance import within_case_test, within_cluster_test
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Criteria, Limits, Policy

FEW = replace(Criteria(), few=2)


def name_cases(clusters: int, size: int) -> dict[str, str]:
    """The cluster of each case."""
    return {f"d{cluster}q{case}": f"d{cluster}" for cluster in range(clusters) for case in range(size)}


def draw_scores(
    source: random.Random, cases: Sequence[str], repeats: int, score: Callable[[], float]
) -> dict[str, list[float | None]]:
    """The scores of each case; one in six is missing, but never the first."""
    return {
        case: [None if repeat and source.random() < 1 / 6 else score() for repeat in range(repeats)] for case in cases
    }


def fail_documents(clusters: Mapping[str, str], documents: int) -> dict[str, list[float | None]]:
    """Five trials a case. All cases of some documents fail in one repeat, another one for each document."""
    return {
        case: [float(int(name[1:]) >= documents or int(name[1:]) % 5 != repeat) for repeat in range(5)]
        for case, name in clusters.items()
    }


def test_seven_documents_that_fail_once_are_no_regression() -> None:
    clusters = name_cases(30, 10)
    base: Scores = {case: [1.0] for case in clusters}
    row = row_of(fail_documents(clusters, 7), base, clusters=clusters)
    # Each failure is in the run by chance with 5/6. The mid-p counts half of the outcomes that are equal.
    assert row.p_worse == pytest.approx((5 / 6) ** 7 / 2)
    assert row.label is RowLabel.NOISE
    assert row_of(fail_documents(clusters, 7), base).label is RowLabel.WORSE, "70 cases that are no clusters are many"


def test_pooled_runs_of_the_base_are_further_repeats() -> None:
    clusters = name_cases(30, 10)
    base = fail_documents(clusters, 7)
    runs: list[Scores] = [{case: [scores[repeat]] for case, scores in base.items()} for repeat in range(5)]
    run: Scores = {case: [1.0] for case in clusters}
    pooled, repeated = row_of(run, *runs, clusters=clusters), row_of(run, base, clusters=clusters)
    assert (pooled.p_worse, pooled.p_better) == (repeated.p_worse, repeated.p_better)
    assert pooled.p_better is not None
    assert pooled.p_better == pytest.approx((5 / 6) ** 7 / 2)  # single cases would give p < 0.0001


def list_sums(new: Scores, old: Scores, cases: Sequence[str]) -> Iterator[float]:
    """The sum of the differences of a cluster, for each order of its slots that keeps the places of missing scores."""
    of_run = len(new[cases[0]])
    trials = {case: [*new[case], *old[case]] for case in cases}
    for order in permutations(range(len(trials[cases[0]]))):
        total = 0.0
        for scores in trials.values():
            moved = [scores[slot] for slot in order]
            if [score is None for score in moved] != [score is None for score in scores]:
                break
            here, there = ([each for each in side if each is not None] for side in (moved[:of_run], moved[of_run:]))
            total += fmean(here) - fmean(there)
        else:
            yield total


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("repeats", [(1, 4), (3, 1), (2, 3)])
def test_p_is_exact_and_a_missing_trial_stays_missing(seed: int, repeats: tuple[int, int]) -> None:
    source, clusters = random.Random(seed), name_cases(2, 3)
    new, old = (draw_scores(source, list(clusters), each, source.random) for each in repeats)
    members = ([case for case in clusters if clusters[case] == name] for name in ("d0", "d1"))
    outcomes = [sum(chosen) for chosen in product(*(list(list_sums(new, old, cases)) for cases in members))]
    pairs = pair_scores(columns_of({"s": new}, clusters), [columns_of({"s": old}, clusters)], "s")
    seen = sum(pairs.sums)
    below, above = (sum(sign * (each - seen) > 1e-9 for each in outcomes) for sign in (-1, 1))
    equal = len(outcomes) - below - above
    expected = (below + equal / 2) / len(outcomes), (above + equal / 2) / len(outcomes)
    assert within_cluster_test(pairs.trials) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", ["pass or fail", "any number"])
def test_the_order_of_trials_and_the_direction_do_not_change_p(kind: str) -> None:
    source, clusters = random.Random(3), name_cases(8, 3)

    def score() -> float:
        return float(source.random() < 0.8) if kind == "pass or fail" else source.random()

    sides = [columns_of({"s": draw_scores(source, list(clusters), each, score)}, clusters) for each in (3, 1)]
    pairs = pair_scores(sides[0], [sides[1]], "s")
    assert pairs.trials
    for _ in range(2):
        new, old = (shuffle(source, each) for each in sides)
        assert one_sided_p(pair_scores(new, [old], "s")) == one_sided_p(pairs)
        assert one_sided_p(pair_scores(old, [new], "s")) == one_sided_p(pairs)[::-1]


def shuffle(source: random.Random, columns: Columns) -> Columns:
    """The same trials, finished in another order."""
    rows = source.sample(range(len(columns)), len(columns))
    shuffled = Columns()
    shuffled.hashes = [columns.hashes[row] for row in rows]
    shuffled.repeats.extend(columns.repeats[row] for row in rows)
    shuffled.statuses = bytearray(columns.statuses[row] for row in rows)
    shuffled.scores["s"] = type(columns.scores["s"])("d", (columns.score("s", row) for row in rows))
    shuffled.clusters = {place: columns.clusters[row] for place, row in enumerate(rows)}
    return shuffled


def test_a_cluster_of_one_case_changes_nothing() -> None:
    source, clusters = random.Random(5), name_cases(30, 1)
    new, old = (draw_scores(source, list(clusters), each, source.random) for each in (3, 2))
    declared, plain = row_of(new, old, clusters=clusters), row_of(new, old)
    assert declared == plain


def test_draws_agree_with_the_exact_p(monkeypatch: pytest.MonkeyPatch) -> None:
    source, clusters = random.Random(8), name_cases(25, 4)
    new, old = (draw_scores(source, list(clusters), each, lambda: float(source.random() < 0.8)) for each in (4, 1))
    trials = pair_scores(columns_of({"s": new}, clusters), [columns_of({"s": old}, clusters)], "s").trials
    exact = within_cluster_test(trials)
    assert exact != within_case_test(trials) == pytest.approx(exact, abs=0.02)
    monkeypatch.setattr(significance, "_WORK_OF_DEALS", 10)
    assert within_cluster_test(trials) == within_case_test(trials)


def test_extra_trials_of_some_cases_are_exchanged_among_themselves() -> None:
    """A slot of extra trials has other cases than the first one, so it can't take its place."""
    clusters = name_cases(12, 3)
    first: Scores = {case: [1.0] for case in clusters}
    chosen: Scores = {case: [0.0, 1.0] for case in clusters if case.endswith(("q0", "q1"))}
    fewer: Scores = {case: [1.0] for case in chosen}
    run, base = (run_of(suite_of({"score": first}, clusters=clusters)) for _ in range(2))
    extras = [run_of(suite_of({"score": each}, clusters=clusters)) for each in (chosen, fewer)]
    sides = (side.add_companion(TrialRole.EXTRA, extra) for side, extra in zip((run, base), extras, strict=True))
    row = compare(*sides).rows[0]
    # Two of three extra slots are the run's, and in each cluster one of the three fails.
    assert row.p_worse == pytest.approx((2 / 3) ** 12 / 2, rel=1e-6)


@pytest.mark.parametrize(("clusters", "smallest"), [(5, 2**-4), (6, 2**-6)])
def test_fewer_than_six_clusters_are_never_significant(clusters: int, smallest: float) -> None:
    names = name_cases(clusters, 20)
    new: Scores = {case: [0.0] for case in names}
    old: Scores = {case: [1.0] for case in names}
    pairs = pair_scores(columns_of({"s": new}, names), [columns_of({"s": old}, names)], "s")
    estimate = estimate_difference(pairs, scale=1.0)
    assert (estimate.p, estimate.smallest_p) == pytest.approx((smallest, smallest))
    # Ten clusters, of which five can differ, are as few.
    same: Scores = {f"e{index}": [1.0] for index in range(8)}
    row = row_of({**new, **same}, {**old, **same}, clusters=names)
    assert row.pairs.clusters >= 10
    assert row.label is (RowLabel.NOISE if clusters < 6 else RowLabel.WORSE)


def spend(clusters: Mapping[str, str], amounts: Mapping[str, Sequence[float]]) -> Columns:
    """The columns of trials with these amounts in milliseconds."""
    columns = columns_of({"s": {case: [1.0] * len(values) for case, values in amounts.items()}}, clusters)
    columns.durations_ms[:] = type(columns.durations_ms)("d", (each for values in amounts.values() for each in values))
    return columns


def measure(columns: Columns) -> Side:
    return quantity_side([columns], lambda each: each.durations_ms, is_paid=False)


@pytest.mark.parametrize(("clusters", "least", "most"), [(5, 1.0, 1.0), (6, 0.008, 0.025), (12, 0.0001, 0.003)])
def test_a_percentile_counts_clusters(clusters: int, least: float, most: float) -> None:
    """Every case takes twice as long. By single cases p would be the smallest possible one for any number."""
    names = name_cases(clusters, 20)
    base = {case: [100.0 + index] for index, case in enumerate(names)}
    new, old = (spend(names, {case: [factor * value for value in base[case]] for case in names}) for factor in (2, 1))
    assert least <= p95_test(measure(new), measure(old), new) <= most
    alone, single = spend({}, {case: [2 * each[0]] for case, each in base.items()}), spend({}, base)
    assert p95_test(measure(alone), measure(single), alone) < 0.0001


def test_slots_of_a_cluster_keep_together_in_a_percentile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents that are slow in one of five repeats have a slow slot among six, whichever side it is on."""
    monkeypatch.setattr(ratios, "_MOST", 499)
    names = name_cases(12, 6)

    def slow_down(documents: int) -> dict[str, list[float]]:
        scores = fail_documents(names, documents)
        return {case: [100.0 if score else 500.0 for score in scores[case]] for case in names}

    old = spend(names, {case: [100.0] for case in names})
    few, new = spend(names, slow_down(5)), spend(names, slow_down(11))
    assert p95_test(measure(few), measure(old), few) == 1.0, "only five clusters can differ"
    # 66 of 432 trials are slow. The base's 95th percentile is slow if at least one of its 12 slots is.
    assert p95_test(measure(new), measure(old), new) == pytest.approx((5 / 6) ** 11, abs=0.04)
    alone = spend({}, slow_down(11))
    assert p95_test(measure(alone), measure(old), alone) < 0.025


def test_the_ratio_of_totals_counts_clusters() -> None:
    source, names = random.Random(4), name_cases(8, 5)
    shocks = {name: source.lognormvariate(0, 0.5) for name in names.values()}
    base = {case: [100 * source.lognormvariate(0, 0.2)] for case in names}
    amounts = {case: [base[case][0] * shocks[names[case]]] for case in names}
    new, old = spend(names, amounts), spend(names, base)
    ratio = compute_total_ratio(measure(new), measure(old), new)
    means = [sum(values[0] for values in side.values()) / len(side) for side in (amounts, base)]
    sums = [
        (sum(amounts[case][0] / means[0] - base[case][0] / means[1] for case in names if names[case] == name), 5)
        for name in shocks
    ]
    low, high = measure_spread(sums).interval()
    assert ratio is not None
    assert (ratio.low, ratio.high) == pytest.approx((ratio.value + low, ratio.value + high))


@pytest.mark.parametrize(("clusters", "p"), [(5, 1.0), (6, 2**-6)])
def test_the_ratio_of_totals_needs_six_clusters(clusters: int, p: float) -> None:
    for size in (1, 20):
        names = name_cases(clusters, size)
        new, old = (spend(names, {case: [each] for case in names}) for each in (2.0, 1.0))
        assert total_test(pair_sides(measure(new), measure(old), case_clusters(new))) == pytest.approx(p)


def test_new_errors_of_a_cluster_count_together() -> None:
    clusters = name_cases(30, 10)
    new: Scores = {
        case: [None if score == 0 else score for score in scores]
        for case, scores in fail_documents(clusters, 7).items()
    }
    base: Scores = {case: [1.0] for case in clusters}

    def has_finding(names: Mapping[str, str] | None) -> bool:
        comparison: Comparison = compared(*(suite_of({"score": each}, clusters=names) for each in (new, base)))
        findings = evaluate_gates(comparison, Policy(Limits(fail_on_regression=True))).findings
        return any(each.rule == "new errors" for each in findings)

    assert (has_finding(clusters), has_finding(None)) == (False, True)


def test_trials_with_one_number_are_all_kept() -> None:
    """Other tools may give all trials of a case the same number of the repeat."""
    clusters = name_cases(12, 2)
    new, old = (
        columns_of({"s": {case: [score] * count for case in clusters}}, clusters)
        for score, count in ((0.0, 4), (1.0, 1))
    )
    expected = pair_scores(new, [old], "s").trials
    new.repeats[:] = type(new.repeats)("l", [0] * len(new))
    assert pair_scores(new, [old], "s").trials == expected


def test_slices_of_clusters_count_as_the_whole_suite_does() -> None:
    """A slice reads the trials of its cases by slot, too."""
    clusters = name_cases(30, 10)
    new, old = columns_of({"s": fail_documents(clusters, 7)}, clusters), columns_of({"s": {c: [1.0] for c in clusters}})
    whole: Pairs = pair_scores(new, [old], "s")
    sides = [Side.from_reader(partial(read, each)) for each in (new, old)]
    chosen = [side.select(clusters, side.values(clusters)) for side in sides]
    assert pair_sides(chosen[0], chosen[1], case_clusters(new)) == whole


def read(columns: Columns) -> Iterator[tuple[str, int, float]]:
    return zip(columns.hashes, columns.repeats, columns.scores["s"], strict=True)
