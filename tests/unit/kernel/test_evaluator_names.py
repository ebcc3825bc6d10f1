"""Baselines of older versions name lambdas by their source: the same expression is the same evaluator."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.evaluator_names import BY_EVALUATOR, pair_names, rename_base_evaluators

LONG_OLD = "len(output)<9 and 'a sentence that is quite long' in outpu…"
LONG_NEW = 'len(output) < 9 and "a sentence that is quite long" in out…'


def test_the_same_expression_is_paired_whatever_its_layout() -> None:
    for old, new in (
        ("len(output)<9", "len(output) < 9"),
        ("(len(output) < 9)", "len(output) < 9"),
        ("'9' in output", '"9" in output'),
        ("output in ('a','b',)", 'output in ("a", "b")'),
        ("{'a':len(output)}.a", '{"a": len(output)}.a'),
        ("1_000 > len(output)", "1000 > len(output)"),
        (LONG_OLD, LONG_NEW),
    ):
        assert pair_names([new, "other"], [old, "gone"]) == {old: new}
        assert pair_names([new, old], [old]) == {}, "the run has the old name, too"


def test_other_names_are_not_paired() -> None:
    for old, new in (
        ("len(output) < 9", "len(output) < 8"),
        ("(a + b) * c", "a + b * c"),
        ("contains 9", "contains  9"),
        ("Is it polite?", "Is it  polite?"),
        ("a…", "a b…"),
        ("(" * 200, "(" * 201),
        (LONG_OLD.replace("9", "8"), LONG_NEW),
    ):
        assert pair_names([new], [old]) == {}, (old, new)


def test_an_ambiguous_name_is_not_paired() -> None:
    assert pair_names(["a < b"], ["a<b", "(a<b)"]) == {}
    assert pair_names([LONG_NEW, LONG_NEW.replace("out…", "the…")], [LONG_NEW[:40] + "…"]) == {}


@given(st.lists(st.text("ab<+ ()'…", max_size=8), max_size=6), st.lists(st.text("ab<+ ()'…", max_size=8), max_size=6))
def test_no_two_evaluators_get_the_same_name(names: list[str], base_names: list[str]) -> None:
    pairs = pair_names(names, base_names)
    renamed = [pairs.get(name, name) for name in set(base_names)]
    assert len(set(renamed)) == len(renamed)
    assert set(pairs.values()) <= set(names)


def test_the_scores_of_a_baseline_are_compared_under_the_new_name() -> None:
    old, new = "len(output)<9", "len(output) < 9"
    run = run_of(ExampleSuite(scored(0.0, 0.0, 0.0, evaluator=new), evaluators=[EvaluatorInfo(new)]))
    error = ErrorInfo("ValueError", "broken")
    base = run_of(ExampleSuite(scored(1.0, 1.0, error, evaluator=old), evaluators=[EvaluatorInfo(old)]))
    assert {row.evaluator for row in compare(run, base).rows} == {old, new}
    renamed = rename_base_evaluators(run, base)
    (row,) = compare(run, renamed).rows
    assert (row.evaluator, row.delta, row.pairs.n) == (new, -1.0, 2)
    (suite,) = renamed.suites
    assert [info.id for info in suite.evaluators.values()] == [new]
    columns = suite.columns
    assert set(columns.scores) == set(columns.errored) == set(columns.judged) == set(columns.thresholds) == {new}
    assert rename_base_evaluators(run, renamed) is renamed
    assert rename_base_evaluators(run, run) is run
    other = replace(base, suites=(replace(suite, id="other"),))
    assert rename_base_evaluators(run, other) is other


def test_every_column_of_evaluators_is_renamed() -> None:
    by_name = {each.name for each in fields(Columns) if str(each.type).startswith("dict[str,") and each.init}
    assert by_name == set(BY_EVALUATOR)
