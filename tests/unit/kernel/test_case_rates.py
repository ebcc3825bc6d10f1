"""Means and pass rates over cases, and texts and keys in columns."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from scoregate.kernel.types.evaluation import Evaluation, Threshold, Usage
from scoregate.kernel.types.event_values import NO_SCALE, ErrorInfo
from scoregate.kernel.types.runs import text_column
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.case_means import (
    PassRate,
    average_cases,
    average_scores,
    count_evaluator_passes,
    count_passes,
    count_verdicts,
    describe_weights,
    list_case_means,
    number_slots,
    score_trials,
)
from scoregate.kernel.types.runs.cases import CaseError, CaseResult
from scoregate.kernel.types.runs.text_column import KeySet, TextColumn

HALF = Threshold(gte=0.5)


def make_columns(*trials: tuple[str, int, float | None], threshold: Threshold | None = HALF, **fields: Any) -> Columns:
    """The columns of trials: a case, a repeat, and a score; None for an error."""
    columns = Columns()
    for case, repeat, score in trials:
        evaluations = {} if score is None else {"e": Evaluation(score, threshold)}
        errors = [CaseError(ErrorInfo("E", "m"))] if score is None else []
        columns.add(CaseResult(0, case, repeat, evaluations=evaluations, errors=errors, **fields))
    return columns


def test_the_mean_of_a_case_is_that_of_its_finite_values() -> None:
    values = [("a", 0, 1.0), ("b", 0, 0.5), ("a", 1, 0.0), ("a", 2, 0.5), ("b", 1, nan), ("c", 0, inf)]
    assert average_cases(values) == ({"a": 0.5, "b": 0.5}, {"a": 3})
    assert average_cases([]) == ({}, {})


def test_slots_of_several_runs_are_different() -> None:
    runs = [make_columns(("a", 0, 1.0), ("a", 2, 1.0)), Columns(), make_columns(("a", 0, 1.0), ("b", 1, 1.0))]
    assert [list(slots) for _, slots in number_slots(runs)] == [[0, 2], [], [4, 5]]


def test_scores_of_the_same_stored_answers_count_once() -> None:
    first = make_columns(("a", 0, 0.5), ("a", 1, 0.5), ("b", 0, 0.1), usage=Usage(answer="x"))
    second = make_columns(("a", 0, 0.5), usage=Usage(answer="x"))
    third = make_columns(("a", 0, 0.7), usage=Usage(answer="y"))
    fourth = make_columns(("a", 0, 0.9))
    runs = [first, second, third, fourth]
    assert list(score_trials(runs, "e")) == [("a", 0, 0.5), ("b", 0, 0.1), ("a", 3, 0.7), ("a", 4, 0.9)]
    assert list(score_trials(runs, "other")) == []
    partly = make_columns(("a", 0, 0.5), usage=Usage(answer="x"))
    partly.add(CaseResult(0, "a", 1, evaluations={"e": Evaluation(0.6)}, usage=Usage()))
    assert list(score_trials([partly], "e")) == [("a", 0, 0.5), ("a", 1, 0.6)]


def test_each_case_counts_once_in_a_mean() -> None:
    columns = make_columns(("a", 0, 1.0), ("a", 1, 1.0), ("b", 0, 0.0))
    assert sorted(list_case_means(columns, "e")) == [0.0, 1.0]
    assert average_scores(columns, "e") == 0.5
    columns.add(CaseResult(0, "b", 1, evaluations={"e": Evaluation(1.0)}))
    assert sorted(list_case_means(columns, "e")) == [0.5, 1.0]
    assert average_scores(columns, "e") == 0.75
    assert average_scores(make_columns(("a", 1, 1.0)), "e") == 1.0
    single = make_columns(("a", 0, 1.0), ("b", 0, None), ("c", 0, 0.5))
    assert (list_case_means(single, "e"), average_scores(single, "e")) == ([1.0, 0.5], 0.75)
    assert average_scores(single, "other") is None
    single.add(CaseResult(0, "d", errors=[CaseError(ErrorInfo(NO_SCALE, "m"), "e")]))
    assert average_scores(single, "e") is None


def test_a_pass_rate_is_averaged_over_cases() -> None:
    rate = PassRate({1: 2, 4: 1}, {1: 1, 4: 3})
    assert (rate.passed, rate.judged, rate.case_count) == (4, 6, 3)
    assert rate.rate == pytest.approx((1 + 0.75) / 3)
    assert rate.weights == ", each case counts once"
    even = PassRate({3: 2}, {3: 4})
    assert (even.rate, even.weights) == (4 / 6, "")
    assert (PassRate().rate, PassRate().weights, PassRate().judged) == (None, "", 0)
    assert describe_weights(0.5, 1, 2) == describe_weights(None, 0, 0) == ""
    assert describe_weights(0.4, 1, 2) == ", each case counts once"


def test_trials_that_pass_or_fail_are_counted() -> None:
    single = make_columns(("a", 0, 1.0), ("b", 0, 0.0), ("c", 0, 0.7), ("d", 0, None))
    assert count_passes([single]) == PassRate({1: 3}, {1: 2})
    repeated = make_columns(("a", 0, 1.0), ("a", 1, 0.0), ("b", 0, 0.0), ("c", 0, 1.0), ("c", 1, 1.0), ("d", 0, None))
    assert count_passes([repeated]) == PassRate({2: 2, 1: 1}, {2: 3})
    assert count_passes([single, repeated]) == PassRate({1: 4, 2: 2}, {1: 2, 2: 3})
    assert count_passes([]) == PassRate({}, {})
    assert count_passes([make_columns(("a", 0, None))]) == PassRate()
    verdicts = [("a", True), ("a", False), ("b", False), ("c", True), ("c", True)]
    assert count_verdicts(verdicts) == PassRate({2: 2, 1: 1}, {2: 3})


def test_scores_of_an_evaluator_pass_or_fail() -> None:
    trials: list[tuple[str, int, float | None]] = [
        ("a", 0, 1.0),
        ("a", 1, 0.0),
        ("b", 0, 0.0),
        ("c", 0, 1.0),
        ("d", 0, None),
    ]
    repeated = make_columns(*trials)
    assert count_evaluator_passes(repeated, "e") == PassRate({2: 1, 1: 2}, {2: 1, 1: 1})
    single = make_columns(*(trial for trial in trials if trial[1] == 0))
    assert count_evaluator_passes(single, "e") == PassRate({1: 3}, {1: 2})
    for columns in (repeated, single):
        assert count_evaluator_passes(columns, "other").judged == 0
    unjudged = make_columns(*trials, threshold=None)
    assert count_evaluator_passes(unjudged, "e").judged == 0
    unjudged.add(CaseResult(0, "e", evaluations={"e": Evaluation(1.0, Threshold())}))
    unjudged.add(CaseResult(0, "f", evaluations={"e": Evaluation(0.0, HALF)}))
    assert count_evaluator_passes(unjudged, "e") == PassRate({1: 1}, {})


def test_short_columns_become_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_column, "_MOST_LISTED", 2)
    assert TextColumn("ab").unpack() == ["a", "b"]
    assert type(TextColumn("ab").unpack()) is list
    assert type(TextColumn("abc").unpack()) is TextColumn


def test_columns_of_texts_are_sequences() -> None:
    column = TextColumn(["ä", "b", "cc"])
    column.extend(["dd", "ö"])
    column.append("e")
    assert list(column) == ["ä", "b", "cc", "dd", "ö", "e"]
    assert (column[1:], column[::-2], column[-2]) == (["b", "cc", "dd", "ö", "e"], ["e", "dd", "b"], "ö")
    assert column != ("ä",)
    assert repr(TextColumn()) == "TextColumn([])"


def test_hashes_replace_many_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_column, "_MOST_AS_THEY_ARE", 3)
    keys = KeySet()
    assert [keys.add(number) for number in (1, 2, 3)] == [True] * 3
    assert (len(keys), len(keys._table)) == (3, 0)
    assert [keys.add(number) for number in (4, 4, 1)] == [True, False, False]
    assert (len(keys), len(keys._keys), len(keys._table)) == (4, 0, 16)
    # Of 16 places, two thirds are filled before there are twice as many. 16 more have the same first place.
    for number in range(16, 16 * 8, 16):
        assert keys.add(number)
    assert (len(keys), len(keys._table)) == (11, 32)
    assert all(number in keys for number in (1, 2, 3, 4, *range(16, 128, 16)))
    assert not any(number in keys for number in (5, 128))
    keys.clear()
    assert (len(keys), keys.add(1), 2 in keys) == (0, True, False)
