"""Numbers in foreign input."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from scoregate.kernel.types.text import is_positive_number, is_whole_number, parse_amount, parse_number


@pytest.mark.parametrize("value", [None, True, False, "1", [1], {}, 10**400])
def test_non_numbers_are_none(value: Any) -> None:
    assert (parse_number(value), parse_amount(value)) == (None, None)


@pytest.mark.parametrize(("value", "amounts_to"), [(0, 0.0), (-0.0, 0.0), (2.5, 2.5), (-1, None), (inf, None)])
def test_an_amount_is_finite_and_not_negative(value: float, amounts_to: float | None) -> None:
    assert (parse_number(value), parse_amount(value)) == (value, amounts_to)
    assert parse_amount(nan) is None
    assert parse_number(nan) is not None


def test_whole_numbers_have_a_minimum_and_are_no_bools() -> None:
    assert [value for value in (-1, 0, 1, 10**400, True, 1.0, "1", None) if is_whole_number(value, 0)] == [
        0,
        1,
        10**400,
    ]
    assert not is_whole_number(0, 1)


def test_only_numbers_over_zero_are_positive() -> None:
    assert [value for value in (0, -1, 0.5, 3, inf, nan, True, "1", None) if is_positive_number(value)] == [0.5, 3, inf]
