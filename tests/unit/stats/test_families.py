"""Many tests at once against scipy and the definitions."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.stats import references

from scoregate.kernel.compare.statistics.significance import benjamini_hochberg, correct_by_direction

PS = st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.04, 0.05, 0.3, 1.0]) | st.floats(0, 1), max_size=12)


@pytest.mark.parametrize("n", [1, 2, 5, 12, 60])
def test_scipy_has_equal_adjusted_p(n: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    source = random.Random(n)
    ps = [source.random() ** 3 for _ in range(n)]
    ps[-1] = ps[0]
    assert benjamini_hochberg(ps) == pytest.approx(list(stats.false_discovery_control(ps, method="bh")), abs=1e-12)


@given(PS)
def test_benjamini_hochberg_by_definition(ps: list[float]) -> None:
    assert benjamini_hochberg(ps) == pytest.approx(references.benjamini_hochberg(ps), abs=1e-12)


@given(PS)
def test_no_correction_is_below_p(ps: list[float]) -> None:
    for p, q in zip(ps, benjamini_hochberg(ps), strict=True):
        assert p <= q + 1e-12
        assert q <= 1.0


def test_example() -> None:
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert benjamini_hochberg([]) == []
    assert benjamini_hochberg([0.2]) == [0.2]


@given(PS)
def test_one_row_keeps_its_two_sided_p(ps: list[float]) -> None:
    for p in ps:
        assert correct_by_direction([p / 2], [1 - p / 2]) == pytest.approx([p], abs=1e-12)


def test_rows_that_improve_are_no_evidence_against_another() -> None:
    """In one two-sided family, nine tiny p-values would let the tenth pass at almost its own p."""
    worse, better = [0.02] + [1 - 1e-6] * 9, [0.98] + [1e-6] * 9
    corrected = correct_by_direction(worse, better)
    assert corrected[0] == pytest.approx(2 * 10 * 0.02)
    assert max(corrected[1:]) < 1e-4
    assert 2 * benjamini_hochberg([0.02, *[1e-6] * 9])[0] == pytest.approx(0.04)
