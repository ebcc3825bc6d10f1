"""A run compared with its baseline: pairs, new and removed rows, and rows that can't be compared."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.kernel.builders import ERROR, ExampleSuite, compared, info, row_of, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.types.event_values import EvaluatorInfo

LOW, HIGH = [0.0] * 40, [1.0] * 40


def make_suite(scores: list[Any], **fields: Any) -> ExampleSuite:
    return ExampleSuite(scored(*scores), **fields)


@pytest.mark.parametrize(
    ("new", "old", "label"),
    [
        (HIGH, LOW, RowLabel.BETTER),
        (LOW, HIGH, RowLabel.WORSE),
        (HIGH, HIGH, RowLabel.UNCHANGED),
        (HIGH[:9], LOW[:9], RowLabel.TOO_FEW),
        ([1.0, 0.0] * 20, [0.0, 1.0] * 20, RowLabel.NOISE),
    ],
)
def test_changed_scores_have_a_label(new: list[float], old: list[float], label: RowLabel) -> None:
    row = row_of(make_suite(new), make_suite(old))
    assert (row.label, row.pairs.n) == (label, len(new))
    assert row.mean == sum(new) / len(new)
    assert row.base == sum(old) / len(old)
    assert row.delta == pytest.approx(row.mean - row.base)


def test_lower_is_better_swaps_labels() -> None:
    down = (info(higher_is_better=False),)
    row = row_of(make_suite(LOW, evaluators=down), make_suite(HIGH, evaluators=down))
    assert (row.label, row.pairs.better, row.pairs.worse, row.gain) == (RowLabel.BETTER, 40, 0, 1.0)
    assert row.delta == -1.0


def test_swapping_run_and_base_changes_only_the_sign() -> None:
    chosen = random.Random(5)
    one, other = ([chosen.random() for _ in range(30)] for _ in range(2))
    forward, backward = row_of(make_suite(one), make_suite(other)), row_of(make_suite(other), make_suite(one))
    assert forward.delta == pytest.approx(-(backward.delta or 0))
    assert forward.estimate.p == pytest.approx(backward.estimate.p)
    assert (forward.pairs.better, forward.pairs.worse) == (backward.pairs.worse, backward.pairs.better)


def test_without_a_base_every_row_is_new() -> None:
    comparison = compare(run_of(make_suite(HIGH)), None, "no run of main was found")
    assert [(row.label, row.mean, row.reason) for row in comparison.rows] == [(RowLabel.NEW, 1.0, "no baseline yet")]
    assert comparison.base_note == "no run of main was found"


def test_without_a_base_an_unscored_row_has_a_reason() -> None:
    silent, battle = make_suite(HIGH[:2]), EvaluatorInfo("b", battles=True)
    rows = compare(run_of(replace(silent, evaluators=(*silent.evaluators, EvaluatorInfo("n"), battle))), None).rows
    assert {row.evaluator: (row.label, row.reason) for row in rows if row.evaluator != "e"} == {
        "n": (RowLabel.UNMEASURABLE, "no case has a score"),
        "b": (RowLabel.UNMEASURABLE, "the baseline has no outputs to compare with"),
    }


def test_a_suite_missing_in_the_base_is_new() -> None:
    comparison = compare(run_of(make_suite(HIGH, id="fresh"), make_suite(HIGH)), run_of(make_suite(HIGH)))
    assert [(row.suite, row.label) for row in comparison.rows] == [
        ("fresh", RowLabel.NEW),
        ("demo", RowLabel.UNCHANGED),
    ]
    assert comparison.gone == ()


def test_a_removed_suite_is_reported() -> None:
    comparison = compare(run_of(make_suite(HIGH)), run_of(make_suite(HIGH), make_suite(LOW, id="old")))
    assert comparison.gone == ("old",)
    assert [(row.label, row.base) for row in comparison.rows_of("old")] == [(RowLabel.REMOVED, 0.0)]


def test_a_new_or_removed_evaluator_has_a_row() -> None:
    new = ExampleSuite({"c0": {"a": 1.0, "b": 0.5}}, evaluators=[info("a"), info("b")])
    old = ExampleSuite({"c0": {"a": 1.0, "c": 0.25}}, evaluators=[info("a"), info("c")])
    rows = {row.evaluator: (row.label, row.mean, row.base) for row in compared(new, old).rows}
    assert rows["b"] == (RowLabel.NEW, 0.5, None)
    assert rows["c"] == (RowLabel.REMOVED, None, 0.25)
    assert list(rows) == ["a", "b", "c"]


BASE = {"source": "s1", "prompt": "p1", "parameters": "a1", "model": "gpt-x"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"source": "s2"}, "its code changed"),
        ({"prompt": "p2"}, "its prompt changed"),
        ({"parameters": "a2"}, "its parameters changed"),
        ({"model": "gpt-y"}, "its model changed: gpt-x → gpt-y"),
        ({"source": "s2", "parameters": "a2"}, "its code and its parameters changed"),
        ({"model": "gpt-y", "source": "s2"}, "its model changed: gpt-x → gpt-y"),
    ],
)
def test_another_evaluator_under_the_same_id_is_not_compared(change: dict[str, str], reason: str) -> None:
    new, old = make_suite(HIGH, evaluators=[info(**{**BASE, **change})]), make_suite(LOW, evaluators=[info(**BASE)])
    row = row_of(new, old)
    assert (row.label, row.reason, row.mean, row.base) == (RowLabel.NOT_COMPARABLE, reason, 1.0, 0.0)
    assert (row.delta, row.estimate.interval) == (None, None)


def test_another_direction_is_not_compared() -> None:
    row = row_of(make_suite(HIGH, evaluators=[info(higher_is_better=False)]), make_suite(LOW, evaluators=[info()]))
    assert (row.label, "direction" in row.reason) == (RowLabel.NOT_COMPARABLE, True)


@pytest.mark.parametrize(
    ("new", "old", "checked"),
    [
        (info(**BASE), info(**BASE), True),
        (EvaluatorInfo("e"), EvaluatorInfo("e"), False),
        (info(source="s1"), info(parameters="a1"), True),
    ],
)
def test_unknown_fingerprints_are_compared(new: EvaluatorInfo, old: EvaluatorInfo, checked: bool) -> None:
    row = row_of(make_suite(HIGH, evaluators=[new]), make_suite(LOW, evaluators=[old]))
    assert (row.label, row.checked) == (RowLabel.BETTER, checked)


def test_pairs_with_an_error_are_dropped_and_counted() -> None:
    new, old = [*HIGH, ERROR, 1.0, None], [*LOW, 1.0, ERROR, 1.0]
    row = row_of(make_suite(new), make_suite(old))
    assert (row.pairs.n, row.pairs.dropped) == (40, 2)
    assert row.mean == 1.0


def test_a_task_error_drops_the_pair() -> None:
    new = ExampleSuite({**scored(*HIGH), "c40": ERROR})
    row = row_of(new, make_suite([*LOW, 1.0]))
    assert (row.pairs.n, row.pairs.dropped) == (40, 1)


def test_with_too_many_errors_a_row_is_unmeasurable() -> None:
    row = row_of(make_suite([*HIGH, *[ERROR] * 5]), make_suite([*LOW, *[1.0] * 5]))
    assert (row.label, row.pairs.n, row.pairs.dropped) == (RowLabel.UNMEASURABLE, 40, 5)


def test_without_any_score_a_row_is_unmeasurable() -> None:
    row = row_of(make_suite([ERROR] * 12), make_suite(HIGH))
    assert (row.label, row.base) == (RowLabel.UNMEASURABLE, 1.0)


def test_cases_without_a_pair_are_counted_and_excluded() -> None:
    new = ExampleSuite({**scored(*HIGH), "extra": {"e": 0.0}, "more": {"e": 0.0}})
    old = ExampleSuite({**scored(*LOW), "former": {"e": 1.0}})
    row = row_of(new, old)
    assert (row.pairs.n, row.cases.added, row.cases.removed, row.delta) == (40, 2, 1, 1.0)


def test_cases_changed_under_one_hash_are_counted() -> None:
    new = make_suite(HIGH, digests={"c0": "x", "c1": "y", "c2": "", "c3": "z"})
    old = make_suite(LOW, digests={"c0": "x", "c1": "n", "c2": "m"})
    assert row_of(new, old).cases.changed == 1


def test_without_common_cases_no_label_is_given() -> None:
    row = row_of(make_suite(HIGH), ExampleSuite({f"other{index}": {"e": 1.0} for index in range(40)}))
    assert row.label not in (RowLabel.BETTER, RowLabel.WORSE, RowLabel.UNCHANGED)
    assert (row.pairs.n, row.cases.added, row.cases.removed) == (0, 40, 40)


def test_flipped_cases_are_found() -> None:
    new = ExampleSuite({"a": {"e": 0.0}, "b": {"e": 1.0}, "c": {"e": 1.0}, "d": {"e": ERROR}, "n": {"e": 0.0}})
    old = ExampleSuite({"b": {"e": 0.0}, "a": {"e": 1.0}, "c": {"e": 1.0}, "d": {"e": 1.0}})
    comparison = compared(new, old)
    hashes = comparison.run.suites[0].columns.hashes
    assert [hashes[flip.row] for flip in comparison.newly_failing] == ["a"]
    assert [hashes[flip.row] for flip in comparison.newly_passing] == ["b"]
    assert comparison.base
    assert comparison.base.suites[0].columns.hashes[comparison.newly_failing[0].base_row] == "a"


def test_suites_that_share_an_id_pair_by_their_file() -> None:
    one, two = {"script": "evals/one.py"}, {"script": "evals/two.py"}
    comparison = compare(
        run_of(make_suite(HIGH, **one), make_suite(LOW, **two)), run_of(make_suite(LOW, **two), make_suite(HIGH, **one))
    )
    assert [(row.suite, row.label) for row in comparison.rows] == [
        ("demo (evals/one.py)", RowLabel.UNCHANGED),
        ("demo (evals/two.py)", RowLabel.UNCHANGED),
    ]


def test_a_suite_that_moved_to_another_file_keeps_its_base() -> None:
    comparison = compare(run_of(make_suite(HIGH, script="new.py")), run_of(make_suite(HIGH, script="old.py")))
    assert [row.label for row in comparison.rows] == [RowLabel.UNCHANGED]
    assert comparison.gone == ()


def test_indistinguishable_suites_are_not_paired() -> None:
    comparison = compare(
        run_of(make_suite(HIGH, script="new.py")),
        run_of(make_suite(HIGH, script="a.py"), make_suite(HIGH, script="b.py")),
    )
    assert comparison.rows[0].label is RowLabel.NEW
    assert len(comparison.gone) == 2


def test_suites_of_a_command_pair_by_number_despite_flags() -> None:
    new, old = {"script": "bash suite.sh --fast"}, {"script": "bash suite.sh"}
    comparison = compare(
        run_of(make_suite(HIGH, **new), make_suite(LOW, **new)), run_of(make_suite(HIGH, **old), make_suite(LOW, **old))
    )
    assert [(row.suite, row.label) for row in comparison.rows] == [
        ("demo", RowLabel.UNCHANGED),
        ("demo #2", RowLabel.UNCHANGED),
    ]
    assert comparison.gone == ()


def test_combinations_of_a_grid_search_pair_by_their_parameters() -> None:
    cold, hot = {"params": {"t": 0}}, {"params": {"t": 1}}
    comparison = compare(
        run_of(make_suite(HIGH, **hot), make_suite(LOW, **cold)),
        run_of(make_suite(LOW, **cold), make_suite(HIGH, **hot)),
    )
    assert [(row.suite, row.label) for row in comparison.rows] == [
        ("demo [t=1]", RowLabel.UNCHANGED),
        ("demo [t=0]", RowLabel.UNCHANGED),
    ]
