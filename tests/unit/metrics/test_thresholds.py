"""Thresholds on a metric's own scale, and the scores that they become."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.grading.grade import ScoreThreshold
from scoregate.kernel.types.evaluation import Evaluation, Scale
from scoregate.metrics import ThresholdOperator

HOLDS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
NUMBERS = st.floats(-1e100, 1e100, allow_nan=False)


@st.composite
def bars(draw: Any) -> tuple[ScoreThreshold, float]:
    low, high = sorted(draw(st.tuples(NUMBERS, NUMBERS).filter(lambda ends: ends[0] != ends[1])))
    inside = st.one_of(st.floats(low, high), st.sampled_from([low, high]))
    return ScoreThreshold(Scale(low, high), draw(inside), draw(st.sampled_from(ThresholdOperator))), draw(inside)


@given(bars())
def test_a_value_passes_on_its_own_scale(drawn: tuple[ScoreThreshold, float]) -> None:
    bar, value = drawn
    score, threshold = bar.score(value)
    assert Evaluation(score, threshold).passed is HOLDS[bar.operator](value, bar.threshold)


@given(bars(), st.data())
def test_compared_values_keep_their_order(drawn: tuple[ScoreThreshold, float], data: st.DataObject) -> None:
    bar, value = drawn
    if bar.operator not in ("=", "!="):
        more = data.draw(st.floats(value, bar.scale.high))
        assert bar.score(value)[0] <= bar.score(more)[0]


def test_two_values_of_one_score_still_differ() -> None:
    bar = ScoreThreshold(Scale(-1e16, 1e16), 0.1, ThresholdOperator.GREATER_THAN)
    assert bar.scale.part(0.2) == bar.scale.part(0.1)
    assert [Evaluation(*bar.score(value)).passed for value in (0.0, 0.1, 0.2)] == [False, False, True]


@pytest.mark.parametrize(("sign", "scores"), [("=", [0, 1, 0]), ("!=", [1, 0, 1])])
def test_equality_scores_0_or_1(sign: str, scores: list[float]) -> None:
    bar = ScoreThreshold(Scale(1, 5), 3, ThresholdOperator(sign))
    assert [bar.score(value)[0] for value in (2, 3, 4)] == scores
    assert bar.operator.upwards


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (-1e308, 1e308), (float("nan"), 1), (0, float("inf"))])
def test_no_scale(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="goes from a number up to a greater one"):
        Scale(low, high)
