"""The permutation of trials: exact counts, the moments of the approximation, and the bounds of draws."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from math import comb, fsum, sqrt
from statistics import NormalDist, fmean

import pytest

from scoregate.kernel.compare.statistics import significance
from scoregate.kernel.compare.statistics.significance import Trials, sort_trials, within_case_test, within_cluster_test

NORMAL = NormalDist()


def list_differences(case: Trials) -> list[float]:
    """The difference of means for every way to deal the trials of a case."""
    new, old = case
    values = [*new, *old]
    return [
        fmean(values[index] for index in chosen)
        - fmean(value for index, value in enumerate(values) if index not in chosen)
        for chosen in combinations(range(len(values)), len(new))
    ]


def find_difference(cases: Sequence[Trials]) -> float:
    return fsum(fmean(new) - fmean(old) for new, old in cases)


def count_exactly(cases: Sequence[Trials]) -> tuple[float, float]:
    """Both one-sided mid-p, from every way to deal the trials of every case."""
    seen = find_difference(cases)
    sums = [fsum(chosen) for chosen in product(*map(list_differences, cases))]
    below, above = sum(each < seen - 1e-9 for each in sums), sum(each > seen + 1e-9 for each in sums)
    equal = len(sums) - below - above
    return (below + equal / 2) / len(sums), (above + equal / 2) / len(sums)


def deal_hits(n: int, new: int, old: int, hits: int) -> list[Trials]:
    """Cases with one trial of 1, which is the run's in the first `hits` of them."""
    return [
        (
            [float(index < hits), *[0.0] * (new - 1)],
            [float(index >= hits), *[0.0] * (old - 1)],
        )
        for index in range(n)
    ]


@pytest.mark.parametrize(("new", "old"), [(1, 5), (5, 1), (2, 4), (1, 9)])
def test_the_approximation_has_the_skewness_of_the_binomial(new: int, old: int) -> None:
    """The one trial of 1 is the run's with the probability new / (new + old), for each of 450 cases."""
    n, share = 450, new / (new + old)
    chances = [comb(n, k) * new**k * old ** (n - k) / (new + old) ** n for k in range(n + 1)]
    for z in (-3, -2, 0, 2, 3):
        hits = round(n * share + z * sqrt(n * share * (1 - share)))
        half = chances[hits] / 2
        expected = fsum(chances[:hits]) + half, fsum(chances[hits + 1 :]) + half
        assert within_case_test(deal_hits(n, new, old, hits)) == pytest.approx(expected, abs=1.5e-4)


def draw_cases(n: int, source: random.Random, shift: float = 0.0) -> list[Trials]:
    """Cases with one to three trials on each side, whose values are skewed."""
    return [
        tuple([side * shift + source.expovariate(1) for _ in range(source.randint(1, 3))] for side in (1, 0))  # type: ignore[misc]
        for _ in range(n)
    ]


@pytest.mark.parametrize("shift", [-0.3, -0.1, 0.0, 0.15])
def test_the_approximation_is_the_first_term_of_edgeworths_expansion(shift: float) -> None:
    """1 − Φ(z) + κ₃/6 · (z² − 1) · φ(z), with the moments of all deals of each case."""
    cases = draw_cases(401, random.Random(f"edgeworth {shift}"), shift)
    deals = [list_differences(case) for case in cases]
    variance = fsum(fmean(each**2 for each in ways) for ways in deals)
    third = fsum(fmean(each**3 for each in ways) for ways in deals)
    z = find_difference(cases) / sqrt(variance)
    expected = NORMAL.cdf(-z) + third / variance**1.5 / 6 * (z * z - 1) * NORMAL.pdf(z)
    lower, upper = within_case_test(cases)
    assert upper == pytest.approx(expected, rel=1e-9)
    assert lower == pytest.approx(1 - expected, rel=1e-9)


def test_the_approximation_stays_a_probability() -> None:
    """Six standard deviations out, where the chance is 10⁻⁹, the expansion leaves [0, 1] on its short side."""
    cases = deal_hits(450, 5, 1, 422)
    assert within_case_test(cases) == (1.0, 0.0)
    assert within_case_test([(old, new) for new, old in cases]) == (0.0, 1.0)


def test_up_to_400_cases_are_drawn() -> None:
    """A drawn mid-p is a multiple of half of an outcome; one in a million draws for each case, at least 1,999."""
    source = random.Random(400)
    cases = draw_cases(401, source)
    p = within_case_test(cases[:400])[0]
    assert 2 * 2_501 * p == pytest.approx(round(2 * 2_501 * p), abs=1e-9)
    assert 2 * 2_501 * (p := within_case_test(cases)[0]) != pytest.approx(round(2 * 2_501 * p), abs=1e-9)


@pytest.mark.parametrize(("n", "draws"), [(40, 9_999), (200, 5_000)])
def test_the_seen_outcome_is_one_of_those_that_are_drawn(n: int, draws: int) -> None:
    """So no p is 0: half of the seen outcome is beyond itself."""
    smallest = 0.5 / (draws + 1)
    assert within_case_test([([-1.0], [1.0, 1.0])] * n) == pytest.approx((smallest, 1 - smallest), rel=1e-9)
    assert within_case_test([([1.0, 1.0], [-1.0])] * n) == pytest.approx((1 - smallest, smallest), rel=1e-9)


def test_equal_sums_of_draws_count_half() -> None:
    source = random.Random(12)
    for trials in ((1, 1), (1, 2), (2, 2)):
        for _ in range(4):
            cases = [
                tuple([float(source.random() < 0.4) for _ in range(count)] for count in trials)  # type: ignore[misc]
                for _ in range(6)
            ]
            if all(len({*new, *old}) == 1 for new, old in cases):
                continue
            lower, upper = within_case_test(cases)
            assert (lower, upper) == pytest.approx(count_exactly(cases), abs=0.012)
            assert lower + upper == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("trials", "error"), [(256, 0.012), (200, 0.05)])
def test_up_to_256_deals_are_each_drawn_as_often(trials: int, error: float) -> None:
    """Each trial may be the run's one: the p of the r-th smallest is (r + ½) / n. Of 200, any 56 count twice."""
    values = [index + index * index / 1_000 for index in range(trials)]
    for rank in range(0, trials, 15):
        case = [values[rank]], [value for value in values if value != values[rank]]
        assert within_case_test([case])[0] == pytest.approx((rank + 0.5) / trials, abs=error)


def test_more_deals_are_sampled() -> None:
    """Six of twelve: 924 deals, and twenty of forty: 10¹¹. Five such cases have the normal distribution."""
    source = random.Random(6)
    for shift in (-0.5, 0.0, 0.3):
        cases = [
            tuple([side * shift + source.random() for _ in range(6)] for side in (1, 0))  # type: ignore[misc]
            for _ in range(5)
        ]
        variance = fsum(fmean(each**2 for each in list_differences(case)) for case in cases)
        expected = NORMAL.cdf(find_difference(cases) / sqrt(variance))
        assert within_case_test(cases)[0] == pytest.approx(expected, abs=0.03)
    large: list[Trials] = [([float(index % 2) for index in range(20)], [float(index % 2) for index in range(20)])]
    assert within_case_test(large) == pytest.approx((0.5, 0.5), abs=0.06)


def test_values_that_differ_by_rounding_are_equal() -> None:
    rounding: Trials = [0.1 + 0.2], [0.3, 0.3]
    assert within_case_test([rounding]) == within_cluster_test([rounding]) == (0.5, 0.5)
    assert within_cluster_test([]) == within_case_test([]) == (0.5, 0.5)
    some: list[Trials] = [([1.0], [0.0, 0.0])]
    assert within_cluster_test([rounding, *some]) == within_cluster_test(some) == pytest.approx((5 / 6, 1 / 6))


def test_trials_are_sorted_within_cases_and_cases_by_their_trials() -> None:
    cases: list[Trials] = [([2.0, 1.0], [5.0, 4.0]), ([1.0, 2.0], [3.0]), ([0.0], [9.0, 8.0])]
    assert sort_trials(cases) == [([0.0], [8.0, 9.0]), ([1.0, 2.0], [3.0]), ([1.0, 2.0], [4.0, 5.0])]


@pytest.mark.parametrize("kind", ["lattice", "any number"])
def test_the_p_of_few_clusters_is_exact(kind: str) -> None:
    source = random.Random(kind)
    for sizes in ([(1, 1)] * 5, [(1, 3), (2, 2), (3, 1)], [(2, 3), (1, 2), (1, 1), (2, 1)]):
        blocks = [
            tuple(
                [source.choice((0.0, 0.5, 1.0)) if kind == "lattice" else source.random() for _ in range(n)]
                for n in each
            )  # type: ignore[misc]
            for each in sizes
        ]
        assert within_cluster_test(blocks) == pytest.approx(count_exactly(blocks), abs=1e-12)


def test_sums_of_clusters_are_compared_with_the_digits_that_they_have() -> None:
    """The sums of two orders of the same additions differ by rounding."""
    source = random.Random(3)
    values = [[source.choice((1, 2, 3, 7)) for _ in range(4)] for _ in range(5)]
    exact = count_exactly([(each[:2], each[2:]) for each in values])
    for scale in (1e-6, sqrt(2), 1e7 * sqrt(2)):
        scaled = [[scale * value for value in each] for each in values]
        assert within_cluster_test([(each[:2], each[2:]) for each in scaled]) == pytest.approx(exact, abs=1e-12)


def test_the_p_of_many_clusters_with_scores_on_a_lattice_is_exact() -> None:
    """One of four trials has a score, in each cluster another multiple of a tenth: 1.1 % of all sums are no higher."""
    source = random.Random(11)
    steps = [source.choice((1, 2, 3, 7)) for _ in range(90)]
    is_new = [source.random() < 0.15 for _ in steps]
    blocks: list[Trials] = [
        ([step / 10 * here, 0.0], [step / 10 * (not here), 0.0]) for step, here in zip(steps, is_new, strict=True)
    ]
    chances = {0: 1.0}
    for step in steps:
        moved = Counter({total + step: chance / 2 for total, chance in chances.items()})
        moved.update({total: chance / 2 for total, chance in chances.items()})
        chances = dict(moved)
    seen = sum(step for step, here in zip(steps, is_new, strict=True) if here)
    lower = fsum(chance for total, chance in chances.items() if total < seen) + chances[seen] / 2
    assert within_cluster_test(blocks)[0] == pytest.approx(lower, rel=1e-9)


def test_clusters_with_too_many_sums_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Either the deals of one cluster or the sums of all clusters may be too many."""
    source = random.Random(9)
    large: list[Trials] = [([source.random() for _ in range(5)], [source.random() for _ in range(5)])]
    many: list[Trials] = [([source.random()], [source.random(), source.random()]) for _ in range(6)]
    for blocks, work in ((large, 600), (many, 300)):
        exact = count_exactly(blocks)
        assert within_cluster_test(blocks) == pytest.approx(exact, abs=1e-12)
        monkeypatch.setattr(significance, "_WORK_OF_DEALS", work)
        assert within_cluster_test(blocks) == within_case_test(blocks) == pytest.approx(exact, abs=0.02)
        monkeypatch.undo()
