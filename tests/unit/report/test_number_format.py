"""Numbers are formatted for people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.kernel.types.runs import number_format


def test_scores_and_differences_have_fixed_decimals_and_a_minus_sign() -> None:
    assert number_format.score(0.92) == "0.920"
    assert number_format.score(None) == "–"
    assert number_format.short(1 / 3) == "0.333"
    assert number_format.short(1.0) == "1"
    assert number_format.difference(-0.08) == "−0.080"
    assert number_format.difference(0.015) == "+0.015"
    assert number_format.difference(-0.0004) == "±0"
    assert number_format.percentage_points(-0.05) == "−5.0 pp"
    assert number_format.percentage_points(0.0) == "±0"


@pytest.mark.parametrize(
    ("rate", "expected"), [(1.0, "100.0%"), (0.99999, "99.9%"), (0.0, "0.0%"), (0.00001, "0.1%"), (0.9154, "91.5%")]
)
def test_a_rate_is_never_rounded_to_all_or_none(rate: float, expected: str) -> None:
    assert number_format.percent(rate) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.812, "812 ms"),
        (0.9996, "1.0 s"),
        (2.1, "2.1 s"),
        (59.96, "1 m 0 s"),
        (72, "1 m 12 s"),
        (3599.7, "1 h 0 m"),
        (7500, "2 h 5 m"),
    ],
)
def test_durations_have_the_unit_that_fits(seconds: float, expected: str) -> None:
    assert number_format.duration(seconds) == expected


def test_money_tokens_and_ages() -> None:
    assert [number_format.cost(dollars) for dollars in (0, 0.42, 12.3, 0.0042, 1e-7)] == [
        "$0.00",
        "$0.42",
        "$12.30",
        "$0.0042",
        "<$0.00001",
    ]
    assert [number_format.cost_change(dollars) for dollars in (0.03, -0.1, 0.0)] == ["+$0.03", "−$0.10", "±0"]
    assert [number_format.tokens(n) for n in (640, 1800, 181_400, 999_600, 2.3e6)] == [
        "640",
        "1.8 k",
        "181 k",
        "1.0 M",
        "2.3 M",
    ]
    assert [number_format.age(seconds) for seconds in (5, 60, 7300, 200_000)] == [
        "just finished",
        "1 minute old",
        "2 hours old",
        "2 days old",
    ]
    assert number_format.relative(104, 100) == "+4%"
    assert number_format.relative(1, 0) == ""


@pytest.mark.parametrize(("p", "expected"), [(0.00001, "p < 0.0001"), (0.0005, "p = 0.0005"), (0.04, "p = 0.04")])
def test_p_values(p: float, expected: str) -> None:
    assert number_format.p_value(p) == expected


@given(st.floats(min_value=0, max_value=1e7))
def test_no_unit_overflows(number: float) -> None:
    assert "1000" not in number_format.duration(number % 1e5)
    assert "60 s" not in number_format.duration(number % 1e5)
    assert "1000 k" not in number_format.tokens(number)
