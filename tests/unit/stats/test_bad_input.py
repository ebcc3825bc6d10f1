"""Invalid runs: a clear message and the best possible comparison, never a traceback."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.stats.builders import Scores, cases, compared, row_of, run_of, suite_of

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import SuiteResult

NAN, INFINITE = float("nan"), float("inf")
FULL = {"score": cases([1.0] * 12)}


def with_scores(evaluator: str, changed: dict[int, float]) -> SuiteResult:
    suite = suite_of({evaluator: cases([1.0] * 40)})
    for row, score in changed.items():
        suite.columns.scores[evaluator][row] = score
    return suite


@pytest.mark.parametrize("score", [NAN, INFINITE, -INFINITE])
def test_other_numbers_are_no_scores(score: float) -> None:
    good, bad = with_scores("score", {}), with_scores("score", {0: score, 7: score})
    for row in (compared(good, bad).rows[0], compared(bad, good).rows[0], compared(bad, bad).rows[0]):
        assert (row.label, row.pairs.n, row.delta, row.estimate.p) == (RowLabel.UNCHANGED, 38, 0.0, 1.0)


def test_only_nan_is_unmeasurable_or_new() -> None:
    good, bad = with_scores("score", {}), with_scores("score", dict.fromkeys(range(40), NAN))
    found = compared(bad, good).rows[0]
    assert (found.label, found.reason) == (RowLabel.UNMEASURABLE, "no case has a score")
    found = compared(good, bad).rows[0]
    assert (found.label, found.reason) == (RowLabel.NEW, "no baseline score of this scorer yet")


def test_a_base_suite_without_cases() -> None:
    row = compared(suite_of(FULL), suite_of({"score": {}})).rows[0]
    assert (row.label, row.mean) == (RowLabel.NEW, 1.0)
    row = compared(suite_of({"score": {}}), suite_of(FULL)).rows[0]
    assert (row.label, row.reason, row.base) == (RowLabel.UNMEASURABLE, "no case was run", 1.0)
    row = compared(suite_of({"score": {}}), suite_of({"score": {}})).rows[0]
    assert row.label is RowLabel.UNMEASURABLE


def test_runs_without_suites() -> None:
    assert compare(run_of(), run_of()).rows == ()
    assert [row.label for row in compare(run_of(suite_of(FULL)), run_of()).rows] == [RowLabel.NEW]
    assert [row.label for row in compare(run_of(), run_of(suite_of(FULL))).rows] == [RowLabel.REMOVED]


def test_suites_without_evaluators() -> None:
    bare = replace(suite_of(FULL), evaluators={})
    assert compared(bare, bare).rows == ()
    assert compared(suite_of(FULL), bare).rows[0].label is RowLabel.NEW
    assert compared(bare, suite_of(FULL)).rows[0].label is RowLabel.REMOVED


@pytest.mark.parametrize("scores", [(1.0, 0.0), (0.3, 0.3), (0.31, 0.3)])
def test_one_case(scores: tuple[float, float]) -> None:
    row = row_of(*(cases([score]) for score in scores))
    assert (row.label, row.pairs.n, row.estimate.detectable, row.correction.q) == (RowLabel.TOO_FEW, 1, None, None)
    assert row_of(*(cases([score]) for score in scores), criteria=Criteria(few=1)).label in (
        RowLabel.NOISE,
        RowLabel.UNCHANGED,
    )


def test_one_cluster() -> None:
    together = {f"case-{index}": "talk" for index in range(40)}
    row = row_of(cases([1.0] * 40), cases([0.0] * 40), clusters=together)
    assert (row.label, row.pairs.clusters, row.estimate.p, row.estimate.low, row.estimate.high) == (
        RowLabel.TOO_FEW,
        1,
        1.0,
        -1.0,
        1.0,
    )


def test_no_case_in_common() -> None:
    row = row_of({"a": [1.0]}, {"b": [1.0]})
    assert (row.label, row.reason) == (RowLabel.NEW, "no case has a score in both runs")
    assert (row.cases.added, row.cases.removed, row.pairs.n) == (1, 1, 0)


@pytest.mark.parametrize("sides", [(None, 1.0), (1.0, None), (None, None)])
def test_only_errors(sides: tuple[float | None, float | None]) -> None:
    row = row_of(*(cases([score] * 20) for score in sides))
    assert row.label is RowLabel.UNMEASURABLE
    assert row.reason


def test_a_duplicate_case_counts_once() -> None:
    new = suite_of({"score": {"same": [1.0], **cases([1.0] * 12)}})
    for _ in range(5):
        new.columns.hashes[3] = "same"
    row = compared(new, suite_of({"score": {"same": [0.0], **cases([1.0] * 12)}})).rows[0]
    assert (row.pairs.n, row.pairs.better, row.cases.removed) == (12, 1, 1)


def test_a_column_that_ends_early_lacks_its_last_scores() -> None:
    new = suite_of(FULL)
    del new.columns.scores["score"][10:]
    row = compared(new, suite_of(FULL)).rows[0]
    assert (row.pairs.n, row.pairs.dropped, row.label) == (10, 0, RowLabel.UNCHANGED)


def test_a_partial_suite_is_compared_so_far() -> None:
    half: Scores = cases([0.0] * 11)
    row = compared(suite_of({"score": half}, complete=False), suite_of({"score": cases([1.0] * 30)})).rows[0]
    assert (row.pairs.n, row.cases.removed, row.label) == (11, 19, RowLabel.WORSE)


def test_two_suites_of_one_name_are_paired_by_file() -> None:
    def suite(script: str, score: float) -> SuiteResult:
        return suite_of({"score": cases([score] * 12)}, script=script, label=f"bot ({script})")

    new, old = run_of(suite("a.py", 1.0), suite("b.py", 0.0)), run_of(suite("b.py", 0.0), suite("a.py", 1.0))
    comparison = compare(new, old)
    assert [row.label for row in comparison.rows] == [RowLabel.UNCHANGED] * 2
    assert comparison.pairs == ((0, 1), (1, 0))


def test_empty_columns_that_declare_an_evaluator() -> None:
    bare = suite_of(FULL).with_columns(Columns())
    assert compared(bare, bare).rows[0].label is RowLabel.UNMEASURABLE
    assert compared(bare, bare).quantities == ()
