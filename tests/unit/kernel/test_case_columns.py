"""The columns of a suite's trials: what each trial adds, and what a selection of rows keeps."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import Any

import pytest

from scoregate.kernel.types.evaluation import Evaluation, Label, Threshold, Usage
from scoregate.kernel.types.event_values import NO_SCALE, ErrorInfo
from scoregate.kernel.types.runs import case_columns
from scoregate.kernel.types.runs.case_columns import Columns, known_values, percentiles
from scoregate.kernel.types.runs.cases import CaseError, CaseKey, CaseResult, Status

HIGH, LOW = Threshold(gte=0.5), Threshold(lte=0.5)
NAN = float("nan")


def make_case(case_hash: str = "a", **fields: Any) -> CaseResult:
    return CaseResult(0, case_hash, **fields)


def make_columns(*cases: CaseResult) -> Columns:
    columns = Columns()
    for case in cases:
        columns.add(case)
    return columns


def make_error(evaluator: str | None = None, kind: str = "E", usage: Usage | None = None) -> CaseError:
    return CaseError(ErrorInfo(kind, "m"), evaluator, usage)


def list_known(values: Any) -> list[float | None]:
    return [None if isnan(value) else value for value in values]


def score_case(case_hash: str, score: float, threshold: Threshold | None = None, **fields: Any) -> CaseResult:
    return make_case(case_hash, evaluations={"e": Evaluation(score, threshold)}, **fields)


def test_a_trial_is_a_row() -> None:
    columns = make_columns(
        make_case("a", digest="d", duration_ms=0.0, tags=("t",), cluster=""),
        score_case("b", 1.0, HIGH, repeat=2, reused="run", usage=Usage(cached=True)),
    )
    assert len(columns) == 2
    assert [columns.key(row) for row in (0, 1)] == [CaseKey("a", 0), CaseKey("b", 2)]
    assert [columns.status(row) for row in (0, 1)] == [Status.UNSCORED, Status.PASSED]
    assert list(columns.digests) == ["d", ""]
    assert list_known(columns.durations_ms) == [0.0, None]
    assert (columns.tags, columns.clusters, columns.cached) == ({0: ("t",)}, {0: ""}, {1})
    assert (columns.reused, columns.rows_from([1]), columns.rows_from([0])) == (1, {1}, {0})
    assert (columns.count(Status.PASSED), columns.count(Status.FAILED)) == (1, 0)
    assert (columns.rows_with(Status.PASSED), columns.rows_with(Status.FAILED)) == ([1], [])


def test_rows_of_a_run_without_sources_are_its_own() -> None:
    columns = replace(make_columns(make_case("a"), make_case("b")), sources=bytearray())
    assert (columns.rows_from([0]), columns.rows_from([1]), columns.reused) == ({0, 1}, set(), 0)


def test_cases_and_trials_are_counted() -> None:
    single = make_columns(make_case("a"), make_case("b"))
    assert (single.has_repeats, single.case_count) == (False, 2)
    assert [single.count_noun(number) for number in (0, 1, 1_000)] == ["0 cases", "1 case", "1,000 cases"]
    repeated = make_columns(make_case("a"), make_case("a", repeat=1), make_case("b"))
    assert (repeated.has_repeats, repeated.case_count) == (True, 2)
    assert [repeated.count_noun(number) for number in (1, 2)] == ["1 trial", "2 trials"]


def test_the_usage_of_a_row_is_the_sum_of_all_its_parts() -> None:
    parts = [Usage(2**index, 2 ** (index + 4), cost=2.0**index) for index in range(4)]
    case = make_case(
        usage=parts[0],
        evaluations={"e": Evaluation(1, usage=parts[1]), "f": Evaluation(1)},
        errors=[make_error("g", usage=parts[2]), make_error()],
        labels={"h": Label("x", usage=parts[3]), "i": Label("x")},
    )
    columns = make_columns(case, make_case(), make_case(usage=Usage(1)), make_case(usage=Usage(cost=0.5)))
    assert list_known(columns.costs) == [15.0, None, None, 0.5]
    assert list_known(columns.tokens) == [255, None, 1, 0]
    total = columns.sum_usage()
    assert total == Usage(256, cost=15.5, model="a model", calls=0, unpriced="a model")
    assert make_columns(make_case()).sum_usage() is None
    assert make_columns(make_case(usage=Usage(1, model="m"))).sum_usage() == Usage(1, model="m", calls=0)
    assert make_columns(make_case(usage=Usage(cost=0.5))).sum_usage() == Usage(cost=0.5, calls=0)


def test_rows_with_stored_answers_are_partly_paid() -> None:
    columns = make_columns(
        make_case(usage=Usage(cached=True)),
        make_case(usage=Usage(stored=1)),
        make_case(usage=Usage(), evaluations={"e": Evaluation(1, usage=Usage(cached=True))}),
        make_case(usage=Usage()),
        make_case(),
    )
    assert (columns.partly_paid, columns.cached) == ({0, 1, 2}, {0})
    total = columns.sum_usage()
    assert total is not None
    assert total.stored == 3


def test_models_without_a_price_are_named_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_columns, "_MOST_UNPRICED", 2)
    models = ("m" * 101, "n", "o")
    columns = make_columns(*(make_case(usage=Usage(1, model=model)) for model in models))
    assert columns.unpriced == {"m" * 100, "n"}
    monkeypatch.undo()
    many = make_columns(*(make_case(usage=Usage(1, model=str(number))) for number in range(60)))
    assert len(many.unpriced) == 50


def test_scores_are_columns_with_gaps() -> None:
    columns = make_columns(score_case("a", 0.2), make_case("b"), score_case("c", 0.4), make_case("d"))
    assert list_known(columns.scores["e"]) == [0.2, None, 0.4]
    assert list_known(columns.score("e", row) for row in range(4)) == [0.2, None, 0.4, None]
    assert isnan(columns.score("other", 0))
    assert known_values(columns.scores["e"]) == [0.2, 0.4]


def test_thresholds_judge_scores() -> None:
    columns = make_columns(
        score_case("a", 0.2, HIGH),
        score_case("b", 0.8, Threshold(gte=0.5)),
        score_case("c", 0.8, LOW),
        score_case("d", 0.8),
    )
    assert (columns.judged, columns.failed) == ({"e": 3}, {"e": {0, 2}})
    assert columns.thresholds == {"e": HIGH}
    assert columns.other_thresholds == {"e": {2: LOW, 3: None}}
    assert [columns.threshold("e", row) for row in range(4)] == [HIGH, HIGH, LOW, None]
    assert columns.threshold("other", 0) is None


def test_stored_answers_are_known_if_all_parts_have_one() -> None:
    for task, judge, answers in (
        (Usage(answer="t"), None, {"e": {0: "t"}}),
        (Usage(answer="t"), Usage(answer="j"), {"e": {0: "t j"}}),
        (Usage(answer="t"), Usage(), {}),
        (Usage(), Usage(answer="j"), {}),
        (None, Usage(answer="j"), {}),
    ):
        columns = make_columns(make_case(usage=task, evaluations={"e": Evaluation(1, usage=judge)}))
        assert columns.answers == answers


def test_labels_are_counted_up_to_a_number_of_different_ones() -> None:
    labels = [f"l{number}" for number in range(51)]
    columns = make_columns(*(make_case(labels={"e": Label(label)}) for label in (*labels, "l0", "l50", "l51")))
    counts = columns.labels["e"]
    assert (len(counts), counts["l0"], counts["l49"], counts["…"]) == (51, 2, 1, 3)
    long = make_columns(make_case(labels={"e": Label("x" * 101)}), make_case(labels={"e": Label("x" * 102)}))
    assert long.labels == {"e": {"x" * 100: 2}}
    assert list(columns.deferred["e"]) == list(range(54))


def test_evaluators_without_a_score_are_counted_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_columns, "_MOST_EVALUATORS", 2)
    contests: dict[str, Any] = {"p": object()}
    columns = make_columns(
        make_case(unscored=("u", "v", "w"), pending=("p", "q"), labels={"l": Label("x")}, contests=contests),
        make_case(unscored=("u", "w"), pending=("p",)),
    )
    assert (columns.unscored, columns.unscored_counts) == (5, {"u": 2, "v": 1})
    assert {name: list(rows) for name, rows in columns.deferred.items()} == {"p": [0, 1], "q": [0]}
    assert (columns.pending, columns.contested) == (3, 1)


def test_errors_belong_to_their_evaluator() -> None:
    columns = make_columns(
        make_case(errors=[make_error()]),
        make_case(errors=[make_error("e")]),
        make_case(errors=[make_error("e", NO_SCALE), make_error("f")]),
        make_case(errors=[make_error("e", NO_SCALE)]),
    )
    assert (columns.errored, columns.unscaled) == ({"e": {1}, "f": {2}}, {"e": {2, 3}})
    assert columns.errored_rows() == {0, 1, 2}
    assert [columns.status(row) for row in range(4)] == [Status.ERRORED] * 3 + [Status.UNSCORED]


def test_rare_scores_outside_of_a_scale_are_errors_of_their_rows() -> None:
    outside = make_error("e", NO_SCALE)
    failed = make_case("b", evaluations={"f": Evaluation(0, HIGH)}, errors=[outside])
    columns = make_columns(
        score_case("a", 0.5), failed, make_case("c", errors=[outside]), make_case("d", errors=[make_error("e")])
    )
    assert columns.with_rare_unscaled_as_errors(0.66) is columns
    changed = columns.with_rare_unscaled_as_errors(0.67)
    assert (changed.errored, changed.unscaled) == ({"e": {1, 2, 3}}, {})
    assert [changed.status(row) for row in range(4)] == [
        Status.SCORED, Status.FAILED, Status.ERRORED, Status.ERRORED,
    ]  # fmt: skip
    assert (columns.unscaled, columns.status(2)) == ({"e": {1, 2}}, Status.UNSCORED)
    often = make_columns(*(make_case(errors=[make_error("g", NO_SCALE)]) for _ in range(2)), score_case("a", 0.5))
    both = make_columns(
        make_case(errors=[outside, make_error("g", NO_SCALE)]), *(score_case(name, 0.5) for name in "abc")
    )
    assert often.with_rare_unscaled_as_errors(0.5) is often
    assert set(both.with_rare_unscaled_as_errors(0.25).unscaled) == {"g"}


def test_selected_rows_keep_what_a_comparison_needs() -> None:
    cases = [
        make_case("a", tags=("x",), cluster="k", duration_ms=1.0, digest="d", usage=Usage(1, cost=2.0, cached=True)),
        score_case("b", 0.1, HIGH, repeat=3, reused="r", usage=Usage(answer="z")),
        make_case("c", errors=[make_error("e")], labels={"l": Label("x")}),
        make_case("d", errors=[make_error("f", NO_SCALE)]),
        score_case("e", 0.9, LOW),
    ]
    columns = make_columns(*cases)
    for rows in ([1, 2, 4], [0, 3], [4, 3, 2, 1, 0], []):
        chosen, expected = columns.select(rows), make_columns(*(cases[row] for row in rows))
        for name in ("hashes", "repeats", "statuses", "sources", "cached", "partly_paid", "tags", "clusters"):
            assert getattr(chosen, name) == getattr(expected, name), name
        for name in ("durations_ms", "costs", "tokens"):
            assert list_known(getattr(chosen, name)) == list_known(getattr(expected, name)), name
        assert list(chosen.digests) == list(expected.digests)
        for index in range(len(rows)):
            for name in ("e", "f"):
                assert list_known([chosen.score(name, index)]) == list_known([expected.score(name, index)])
            if not isnan(expected.score("e", index)):
                assert chosen.threshold("e", index) == expected.threshold("e", index)
        for name in ("failed", "errored", "unscaled", "answers"):
            known = {key: value for key, value in getattr(chosen, name).items() if value}
            assert known == getattr(expected, name), name
        deferred = {name: list(found) for name, found in chosen.deferred.items() if found}
        assert deferred == {name: list(found) for name, found in expected.deferred.items()}
        assert (chosen.labels, chosen.pending, chosen.unscored) == ({}, 0, 0)
    bare = replace(columns, costs=type(columns.costs)("d"), sources=bytearray())
    assert (list(bare.select([1]).costs), bare.select([1]).sources) == ([], bytearray())


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([3.0, 1.0, 2.0, 4.0], 0.5, 2.0),
        ([3.0, 1.0, 2.0, 4.0], 0.51, 3.0),
        ([3.0, 1.0, 2.0, 4.0], 1.0, 4.0),
        ([3.0, 1.0, 2.0, 4.0], 0.01, 1.0),
        ([NAN, 5.0], 0.95, 5.0),
        ([NAN], 0.5, None),
        ([], 0.5, None),
    ],
)
def test_a_percentile_is_the_nearest_rank(values: list[float], share: float, expected: float | None) -> None:
    assert percentiles(values, share) == (expected,)
    assert percentiles(iter(values), share, share) == (expected, expected)
