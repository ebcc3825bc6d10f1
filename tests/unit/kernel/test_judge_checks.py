"""When people agree with a judge often enough: rates, weights, bounds, and after how many reviews it is checked."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.kernel.compare.agreement import cohens_kappa
from scoregate.kernel.compare.judge_checks import (
    LEVEL,
    AgreementLevel,
    JudgeCheck,
    Review,
    check_judge,
    conclude,
    describe_check,
    weigh_reviews,
)
from scoregate.kernel.compare.statistics.intervals import clopper_pearson_low
from scoregate.kernel.types.evaluation import Threshold


def make_reviews(counts: dict[tuple[float, float], int], share: float | None = None) -> list[Review]:
    """Reviews by the judge's score and the person's score."""
    return [Review(judge, person, None, share) for (judge, person), count in counts.items() for _ in range(count)]


def check(reviews: list[Review], fewest: int | None = None) -> JudgeCheck:
    found = check_judge(reviews, fewest=fewest or len(reviews))
    assert found is not None
    return found


@pytest.mark.parametrize(("hits", "n"), [(0, 9), (1, 1), (1, 40), (24, 25), (25, 25), (360, 400)])
@pytest.mark.parametrize("level", [0.025, 0.0015625])
def test_the_bound_of_a_proportion_is_scipys(hits: int, n: int, level: float) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    expected = stats.beta.ppf(level, hits, n - hits + 1) if hits else 0.0
    assert clopper_pearson_low(hits, n, level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("failing", [0, 3, 15, 25, 49])
@pytest.mark.parametrize("least", [0.0, 0.5, 0.8])
def test_a_judge_that_always_passes_is_never_calibrated(failing: int, least: float) -> None:
    """47 of 50 agree, and kappa is 0."""
    reviews = make_reviews({(1, 1): 50 - failing, (1, 0): failing})
    assert not check(reviews).is_above(least)


def test_a_judge_that_always_fails_is_never_calibrated() -> None:
    assert not check(make_reviews({(0, 1): 3, (0, 0): 400})).is_above(0.3)
    assert not check(make_reviews({(0, 0): 400})).is_above(0.3)


def test_a_judge_that_guesses_is_not_calibrated_by_a_low_minimum() -> None:
    guesses = check(make_reviews(dict.fromkeys(product((0.0, 1.0), (0.0, 1.0)), 200)))
    assert guesses.failures is not None
    assert guesses.failures.low > 0.4
    assert not guesses.is_above(0.3)
    assert guesses.is_below(0.3) is False  # exactly .5: neither better nor worse than a coin


def test_both_rates_have_exact_bounds() -> None:
    found = check(make_reviews({(0, 0): 24, (1, 0): 1, (1, 1): 20, (0, 1): 5}))
    assert found.failures is not None
    assert found.passes is not None
    assert (found.failures.n, found.failures.matching, found.failures.rate) == (25, 24, 0.96)
    assert found.failures.low == clopper_pearson_low(24, 25, 0.025)
    assert (found.passes.rate, found.passes.low) == (0.8, clopper_pearson_low(20, 25, 0.025))
    rate, low = found.balanced
    assert rate == pytest.approx(0.88)
    assert low == pytest.approx(0.88 - ((0.96 - found.failures.low) ** 2 + (0.8 - found.passes.low) ** 2) ** 0.5 / 2)


@pytest.mark.parametrize(
    ("n", "used", "level"), [(50, 50, 0.025), (99, 50, 0.025), (100, 100, 0.0125), (399, 200, 0.00625)]
)
def test_a_check_uses_the_first_reviews_and_half_of_the_level_before(n: int, used: int, level: float) -> None:
    reviews = [Review(0, 0), Review(1, 1)] * (n // 2) + [Review(1, 0)] * (n % 2)
    found = check(reviews, fewest=50)
    assert (found.n, found.next) == (used, 2 * used)
    assert found.failures is not None
    assert found.failures.low == pytest.approx(level ** (2 / used))


def test_the_levels_of_all_checks_add_up() -> None:
    lows = [check([Review(0, 0)] * 10 * 2**k, fewest=10) for k in range(8)]
    levels = [found.failures.low**found.n for found in lows if found.failures is not None]
    assert sum(levels) == pytest.approx(LEVEL * (1 - 2**-8))


def test_a_threshold_decides_what_fails() -> None:
    strict, low_passes = Threshold(gte=0.9), Threshold(lte=0.2)
    assert Review(0.8, 0.9, strict).judge_fails
    assert not Review(0.8, 0.9, strict).person_fails
    assert (Review(0.5, 0.49).judge_fails, Review(0.5, 0.49).person_fails) == (False, True)
    assert (Review(0.5, 0.1, low_passes).judge_fails, Review(0.5, 0.1, low_passes).person_fails) == (True, False)
    assert Review(0.4, 0.6, Threshold()).judge_fails
    assert not Review(0.4, 0.6, Threshold()).person_fails


def test_graded_scores_are_categories() -> None:
    """A judge that fails the right outputs with the wrong score isn't right."""
    found = check(make_reviews({(0.25, 0.0): 10, (0.0, 0.0): 10, (1.0, 1.0): 10, (0.75, 1.0): 20}))
    assert found.failures is not None
    assert found.passes is not None
    assert (found.failures.rate, found.passes.rate) == (0.5, pytest.approx(1 / 3))
    assert found.failures.low == clopper_pearson_low(10, 20, 0.025)


def test_weights_give_both_verdicts_the_shares_of_the_run() -> None:
    reviews = make_reviews({(0, 0): 18, (0, 1): 2, (1, 1): 78, (1, 0): 2}, share=0.05)
    assert weigh_reviews(reviews) == pytest.approx((0.25, 1.1875))
    found = check(reviews)
    assert found.failures is not None
    # In the run, the judge finds .05 · .9 and misses .95 · .025.
    assert found.failures.rate == pytest.approx(0.045 / (0.045 + 0.02375))
    odds = clopper_pearson_low(18, 20, 0.025) / (1 - clopper_pearson_low(18, 20, 0.025)) * 0.25 / 1.1875
    assert found.failures.low == pytest.approx(odds / (1 + odds))
    # All 20 failures that the sample has are found, but 80 passing scores say little about the rest of the run.
    sure = check(make_reviews({(0, 0): 20, (1, 1): 80}, share=0.05))
    assert sure.failures is not None
    assert (sure.failures.rate, sure.failures.low) == (1.0, pytest.approx(0.5097, abs=1e-4))


def test_few_reviews_of_passing_scores_prove_nothing() -> None:
    """Although the judge and people agree on 100 failures, a fifth of the other outputs may be failures, too."""
    found = check(make_reviews({(0, 0): 100, (1, 1): 10}, share=0.05))
    assert found.failures is not None
    assert found.failures.low < 0.15


def test_graded_scores_of_a_weighted_sample_have_half_of_the_level_for_each_part() -> None:
    found = check(make_reviews({(0.0, 0.0): 15, (0.25, 0.0): 5, (1.0, 1.0): 80}, share=0.05))
    assert found.failures is not None
    assert found.failures.rate == pytest.approx(0.75)
    half = clopper_pearson_low(20, 20, 0.0125)
    same = half * 0.25 / (half * 0.25 + (1 - half) * 1.1875)
    assert found.failures.low == pytest.approx(same * clopper_pearson_low(15, 20, 0.0125))


def test_reviews_of_earlier_versions_count_with_their_own_verdicts() -> None:
    old = make_reviews({(0, 0): 10, (1, 1): 30})
    assert weigh_reviews(old) == (1.0, 1.0)
    new = make_reviews({(0, 0): 10, (1, 1): 30}, share=0.05)
    # 40 old scores of which 10 fail, and 40 new ones of a run in which a twentieth fails: together 12 of 80.
    assert weigh_reviews([*old, *new]) == pytest.approx((12 / 20, 68 / 60))


def test_a_group_without_reviews_tells_what_to_review() -> None:
    nothing_failed, nothing_passed = check(make_reviews({(1, 1): 50})), check(make_reviews({(0, 0): 50}))
    advice = "people {0} none of 50 outputs and agree with the judge on 50; review a run with outputs that should {0}"
    assert describe_check(nothing_failed) == advice.format("fail")
    assert describe_check(nothing_passed) == advice.format("pass")
    assert {conclude(each, 0.8) for each in (nothing_failed, nothing_passed)} == {AgreementLevel.TOO_FEW}


@pytest.mark.parametrize(
    ("counts", "least", "level"),
    [
        ({(0, 0): 25, (1, 1): 25}, 0.8, AgreementLevel.HOLDS),
        ({(0, 0): 24, (1, 0): 1, (1, 1): 25}, 0.8, AgreementLevel.TOO_FEW),
        ({(0, 0): 19, (1, 0): 6, (1, 1): 25}, 0.8, AgreementLevel.BELOW),
        ({(0, 0): 25, (0, 1): 12, (1, 1): 13}, 0.8, AgreementLevel.BELOW),
        ({(0, 1): 25, (1, 1): 25}, 0.8, AgreementLevel.BELOW),  # at most .75, whatever it finds
        ({(0, 1): 25, (1, 1): 25}, 0.7, AgreementLevel.TOO_FEW),
        ({(0, 0): 25, (1, 0): 25}, 0.7, AgreementLevel.BELOW),
        ({(0, 0): 25, (1, 1): 25}, None, None),
    ],
)
def test_conclusions(counts: dict[tuple[float, float], int], least: float | None, level: AgreementLevel | None) -> None:
    assert conclude(check(make_reviews(counts)), least) is level


def test_too_few_reviews_have_no_check() -> None:
    assert check_judge([Review(0, 0)] * 9, fewest=10) is None
    assert conclude(None, 0.8) is AgreementLevel.TOO_FEW


@given(
    st.lists(st.integers(0, 40), min_size=4, max_size=4),
    st.one_of(st.none(), st.floats(0.01, 0.99)),
    st.floats(0, 1),
)
def test_what_is_calibrated_has_a_kappa_above_0(counts: list[int], share: float | None, least: float) -> None:
    reviews = make_reviews(dict(zip(product((0.0, 1.0), (0.0, 1.0)), counts, strict=True)), share)
    found = check_judge(reviews, fewest=1)
    if found is None or not found.is_above(least):
        return
    assert found.failures is not None
    assert found.passes is not None
    assert least < found.failures.low <= found.failures.rate <= 1
    used = reviews[: found.n]
    kappa = cohens_kappa({pair: sum(each.scores == pair for each in used) for pair in {each.scores for each in used}})
    assert kappa is not None
    assert kappa.value > 0
