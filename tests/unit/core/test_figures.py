"""Numbers in what others say."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from scoregate.core.figures import amount, number


@pytest.mark.parametrize("said", [None, True, False, "1", [1], {}, 10**400])
def test_what_is_no_number(said: Any) -> None:
    assert (number(said), amount(said)) == (None, None)


@pytest.mark.parametrize(("said", "amounts_to"), [(0, 0.0), (-0.0, 0.0), (2.5, 2.5), (-1, None), (inf, None)])
def test_an_amount_is_finite_and_not_negative(said: float, amounts_to: float | None) -> None:
    assert (number(said), amount(said)) == (said, amounts_to)
    assert amount(nan) is None
    assert number(nan) is not None
