"""The sign-flip test of more values than can be enumerated, against the exact number of outcomes with each sum."""

from __future__ import annotations

import random
from math import pi, sqrt

import pytest
from tests.unit.stats.exact_counts import count_subset_sums, exact_mid_p
from tests.unit.stats.references import mid_p

from scoregate.kernel.compare.statistics.significance import (
    benjamini_hochberg,
    correct_by_direction,
    count_changed,
    exact_sign_flip_p,
    sign_flip_test,
    smallest_p,
)

# A prime above 10,000: its multiples are whole numbers of a unit, but of one that is too small for a lattice.
PRIME = 10_007


def test_the_reference_counts_every_outcome() -> None:
    assert list(count_subset_sums([1, -1, 2])) == [1, 2, 2, 2, 1]
    steps = [3, -5, 2, 2, 7, -1]
    assert exact_mid_p(steps) == float(mid_p(steps))  # type: ignore[arg-type]


def draw_steps(n: int, shift: float, seed: int) -> list[int]:
    source = random.Random(f"{n} {seed}")
    return [round(150 * source.gauss(shift, 1)) or 1 for _ in range(n)]


@pytest.mark.parametrize("n", [27, 40, 90])
def test_values_without_a_lattice(n: int) -> None:
    for seed, shift in enumerate((0.0, 0.3, 0.6, -0.6)):
        steps = draw_steps(n, shift, seed)
        p = sign_flip_test([step / PRIME for step in steps])
        assert p == pytest.approx(exact_mid_p(steps), rel=1e-3), (n, shift)


def test_the_largest_number_of_values_without_a_lattice() -> None:
    steps = [step // 5 or 1 for step in draw_steps(200, 0.1, 5)]
    assert sign_flip_test([step / PRIME for step in steps]) == pytest.approx(exact_mid_p(steps), rel=1e-4)
    assert sign_flip_test([step / PRIME for step in [*steps, 1]]) is None


def test_the_scale_of_values_does_not_matter() -> None:
    values = [step / PRIME for step in draw_steps(40, 0.3, 1)]
    for factor in (0.01, pi, 1_000.0):
        assert sign_flip_test([factor * value for value in values]) == pytest.approx(sign_flip_test(values), rel=1e-6)


def test_no_p_is_below_that_of_the_most_extreme_outcome() -> None:
    for n in (27, 32, 38):
        ps = [sign_flip_test([abs(step) / PRIME for step in draw_steps(n, 0.0, seed)]) for seed in range(8)]
        assert min(p for p in ps if p is not None) == 2.0**-n
        assert max(p for p in ps if p is not None) < 1e-6
    # Of more values, the error of the series is larger than the smallest p.
    for seed in range(12):
        p = sign_flip_test([abs(step) / PRIME for step in draw_steps(100, 0.0, seed)])
        assert p is not None
        assert 1e-12 <= p < 1e-9


def test_no_p_is_above_1() -> None:
    for seed in range(12):
        steps = draw_steps(27, 0.0, seed)
        balanced = [*steps, 1 - sum(steps)]
        p = sign_flip_test([step / PRIME for step in balanced])
        assert p == pytest.approx(exact_mid_p(balanced), abs=1e-6)
    # The series of one large and 90 tiny values has a sum of 1.00002.
    source = random.Random(5)
    assert sign_flip_test([1.0, *(-1e-4 * (source.random() + 0.5) for _ in range(90))]) == 1.0


@pytest.mark.parametrize(
    "steps",
    [
        [40, *[-1] * 30],
        [25] * 3 + [-2] * 41 + [7] * 10 + [-7],
        [*range(1, 40), -300, -11],
        [1] * 150 + [-3] * 70 + [5] * 11,
    ],
    ids=["one large", "groups", "all different", "many"],
)
def test_values_on_a_lattice(steps: list[int]) -> None:
    for unit in (1, 0.05, 1 / 3):
        assert sign_flip_test([unit * step for step in steps]) == pytest.approx(exact_mid_p(steps), rel=1e-9)


def test_one_value_against_many_small_ones_is_no_evidence() -> None:
    """Only the outcomes with this very sum are not beyond it, and half of them count."""
    steps = [100, *[-1] * 60]
    p = sign_flip_test(steps)
    assert p == pytest.approx(1.0, abs=1e-12)
    assert p <= 1.0


def test_a_lattice_may_have_128_sizes() -> None:
    """One more, and the t test is used."""
    steps = [*[1] * 74, *(size * (-1) ** size for size in range(2, 129))]
    assert len(steps) > 200
    assert sign_flip_test([step / 100 for step in steps]) == pytest.approx(exact_mid_p(steps), rel=1e-9)
    assert sign_flip_test([step / 100 for step in [*steps, 129]]) is None


def test_a_lattice_may_have_ten_thousand_steps_to_1() -> None:
    """A sixteenth and a 625th are 625 and 16 ten-thousandths; the unit of a 101st and a 103rd is smaller."""
    steps = [*[16] * 120, *[-16] * 79, 625, -625, 625]
    assert sign_flip_test([step / 10_000 for step in steps]) == pytest.approx(exact_mid_p(steps), rel=1e-9)
    assert sign_flip_test([*[1 / 103] * 120, *[-1 / 103] * 79, 1 / 101, -1 / 101, 1 / 101]) is None


def test_a_value_next_to_a_lattice_is_not_moved_onto_it() -> None:
    steps = [*[0.5] * 120, *[-0.25] * 90]
    assert sign_flip_test(steps) is not None
    assert sign_flip_test([*steps, 0.25 + 1e-7]) is None
    assert sign_flip_test([*steps, 0.25 + 5e-10]) == pytest.approx(sign_flip_test([*steps, 0.25]), rel=1e-9)


def test_a_convolution_of_a_million_steps_is_the_largest() -> None:
    """Of values 1 and 2: (a + 1)² + (a + 1 + 2b)·(b + 1) additions."""

    def compute_p(work: int) -> float | None:
        a, b = next(
            (a, b) for b in range(1, 400) for a in range(200, 1_000) if (a + 1) ** 2 + (a + 1 + 2 * b) * (b + 1) == work
        )
        return sign_flip_test([1.0] * a + [-2.0] * b)

    assert compute_p(1_000_000) is not None
    assert compute_p(1_000_001) is None


def test_values_up_to_a_billionth_are_zero() -> None:
    assert count_changed([1e-9, -1e-9, 0.0, 1.1e-9, -1.0]) == 2
    assert smallest_p([1e-9, 1.0, 1.0]) == 0.25
    assert sign_flip_test([1e-9] * 5) == sign_flip_test([1.0, 1e-9, -1.0]) == 1.0
    assert sign_flip_test([1.0, 1e-9]) == 0.5
    assert exact_sign_flip_p([1.0, 1e-9]) == (1.0, 0.5)


def test_sums_that_differ_by_rounding_are_equal() -> None:
    values = [0.1, 0.2, -0.3, 0.7, 0.7]
    for scale in (1e-6, 1.0, 10.0, sqrt(2), 1e7 * sqrt(2)):
        scaled = [scale * value for value in values]
        lower, upper = exact_sign_flip_p(scaled) or (0.0, 0.0)
        assert (lower, upper) == (29 / 32, 5 / 32)
        assert exact_sign_flip_p([-value for value in scaled]) == (upper, lower)
        # One of four has both .7 up. Of the others three of eight are above 0, and two are 0, with or without the .01.
        assert sign_flip_test([*scaled, scale / 100]) == pytest.approx(2 / 4 * (3 / 8 + 2 / 8 / 4))


def test_up_to_14_values_have_an_exact_one_sided_p() -> None:
    assert exact_sign_flip_p([*[-1.0] * 14, 0.0]) == (2.0**-14, 1.0)
    assert exact_sign_flip_p([-1.0] * 15) is None


def test_a_sum_that_is_larger_by_little_is_not_equal() -> None:
    """Of values that are far apart in size, the small ones decide among outcomes with the same large ones."""
    steps = [1_000, -1_000, 1_000, 3, 2, 1]
    assert exact_sign_flip_p([step / 1_000 for step in steps]) == (56 / 64, 11 / 64)


def test_a_corrected_p_is_at_most_1() -> None:
    assert correct_by_direction([0.4, 0.9], [0.6, 0.1]) == pytest.approx([1.0, 0.4])
    assert benjamini_hochberg([0.4, 0.9, 1.0]) == pytest.approx([1.0, 1.0, 1.0])
