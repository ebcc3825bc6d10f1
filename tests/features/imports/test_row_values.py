"""Rows of any tool: what counts as a score, which columns are found, and what identifies a case."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.features.imports.files import Imported, imported

from scoregate.errors import ImportFailed
from scoregate.kernel.run.plan import RowColumns
from scoregate.kernel.types.runs.cases import CaseResult


def load(rows: list[dict[str, Any]], name: str = "evals.jsonl", **columns: Any) -> Imported:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return imported("rows", text, name=name, columns=RowColumns(**({"scores": ("s",), "case": "id"} | columns)))


def load_case(row: dict[str, Any], **columns: Any) -> CaseResult:
    (case,) = load([{"id": "a", "s": 1} | row], **columns).cases
    return case


def fail(rows: list[dict[str, Any]], **columns: Any) -> str:
    with pytest.raises(ImportFailed) as caught:
        load(rows, **columns)
    return caught.value.message.partition(": ")[2]


def test_verdicts_and_numbers_are_scores() -> None:
    verdicts = {
        True: True,
        "true": True,
        " Pass ": True,
        "PASSED": True,
        "fail": False,
        "failed": False,
        "false": False,
    }
    for value, verdict in [(False, False), *verdicts.items()]:
        evaluation = load_case({"s": value}).evaluations["s"]
        assert (evaluation.passed, evaluation.score) == (verdict, verdict), value
    for number, score in [(0.5, 0.5), (1, 1), ("0.5", 0.5), (" 1 ", 1)]:
        evaluation = load_case({"s": number}).evaluations["s"]
        assert (evaluation.score, evaluation.threshold) == (score, None), number


def test_other_values_are_errors_with_their_place() -> None:
    for value, why in (
        ("good", "line 1: 'good' is not a score"),
        ([1], "line 1: '[1]' is not a score"),
        ("nan", "line 1: 'nan' is not a score"),
        (float("inf"), "line 1: inf is not a score"),
        (None, "line 1 has no 's'"),
        ("x" * 81, f"line 1: '{'x' * 80}…' is not a score"),
    ):
        (problem,) = load_case({"s": value}).errors
        assert (problem.evaluator, problem.error.type, problem.error.message) == ("s", "NoScore", why)
    run = load([{"id": "a", "s": 1}, {"id": "b"}])
    assert run.cases[1].errors[0].error.message == "line 2 has no 's'"


def test_every_column() -> None:
    row = {
        "doc": {"q": "question", "a": "answer"},
        "out": "output",
        "good": 1,
        "good why": "because",
        "part": "law",
        "labels": ["x", "", 3],
        "group": "g",
        "problem": "broken",
        "document": "d7",
        "note": "n",
    }
    columns: dict[str, Any] = {
        "scores": ("good",), "input": ("doc.q",), "output": "out", "expected": "doc.a", "reason": "{score} why",
        "suite": "part", "tags": "labels", "cluster": "group", "error": "problem",
    }  # fmt: skip
    run = load([{"id": "a"} | row], **columns)
    (case,) = run.cases
    assert list(run.suites) == ["law"]
    assert (case.hash, case.name, case.output) == ("a", "a", "output")
    assert case.input == {"input": "question", "metadata": {"document": "d7"}}
    assert (case.tags, case.cluster) == (("x", "3"), "g")
    assert case.evaluations["good"].metadata == {"reason": "because", "expected": "answer"}
    assert [(each.evaluator, each.error.type, each.error.message) for each in case.errors] == [
        (None, "RowError", "broken")
    ]


def test_tags_may_be_a_text() -> None:
    assert load_case({"t": " a, b ,,c"}, tags="t").tags == ("a", "b", "c")
    assert load_case({"t": None}, tags="t").tags == ()


@pytest.mark.parametrize(
    ("value", "is_error"), [(None, False), ("", False), (False, False), (0, False), (1, True), ({"e": 1}, True)]
)
def test_an_empty_error_is_none(value: object, is_error: bool) -> None:
    assert bool(load_case({"e": value}, error="e").errors) is is_error


def test_several_inputs_are_one() -> None:
    assert load_case({"q": 1, "r": 2}, input=("q", "r")).input == {"q": 1, "r": 2}
    assert load_case({"q": 1}, input=("q",)).input == 1
    assert load_case({}).input is None
    # Without an id and an input, what is no result is the input.
    run = load([{"q": 1, "out": "x", "s": 1, "document": "d"}], case="", output="out")
    assert run.cases[0].input == {"q": 1, "document": "d"}
    assert "line 1 has neither a case nor an input" in fail([{"s": 1}], case="")
    assert "line 2 has neither a case nor an input" in fail([{"q": 1, "s": 1}, {"s": 1}], case="", input=("q",))


def test_ids_that_may_be_positions_are_paired_by_input() -> None:
    for case, is_position in (
        ("1", True),
        ("0", True),
        ("2", True),
        ("3", False),
        ("row 7", True),
        ("1234567890", False),
        ("a", False),
    ):
        first, _ = load([{"id": case, "q": "x", "s": 1}, {"id": "other", "q": "y", "s": 1}], input=("q",)).cases
        assert (first.hash != case, first.name) == (is_position, f"{case}: x" if is_position else case), case
    assert load_case({"id": "1"}).hash == "1"


def test_further_rows_of_a_case_are_repeats_if_the_settings_say_so() -> None:
    rows = [{"id": each, "q": "x", "s": 1} for each in "aba"]
    assert [(case.hash, case.repeat) for case in load(rows, repeats=True).cases] == [("a", 0), ("b", 0), ("a", 1)]
    assert [(case.hash, case.repeat) for case in load(rows).cases] == [("a", 0), ("b", 0), ("a #2", 0)]
    unnamed = [{"q": each, "s": 1} for each in "xyx"]
    assert [case.repeat for case in load(unnamed, case="", input=("q",), repeats=True).cases] == [0, 0, 1]
    suites = [{"id": "a", "p": part, "s": 1} for part in ("one", "two", "one", "")]
    run = load(suites, suite="p", repeats=True)
    assert list(run.suites) == ["one", "two", "evals"]
    assert sorted(case.repeat for case in run.cases) == [0, 0, 0, 1]


def test_globs_match_columns_of_numbers_and_verdicts() -> None:
    row = {"id": "a", "a_x": 1, "a_y": "0.5", "a_z": "text", "nested": {"a_b": {"c": 0.25}}, "a_[1]": 1, "a_id": 1}
    found = load([row], scores=("a_*",), case="a_id").cases[0].evaluations
    assert found.keys() == {"a_x", "a_y", "a_[1]"}
    assert list(load([row], scores=("nested.*",)).cases[0].evaluations) == ["nested.a_b.c"]
    assert load([row], scores=("a_[1]", "a_x", "a_*")).cases[0].evaluations.keys() == {"a_[1]", "a_x", "a_y", "a_id"}
    deep: dict[str, Any] = {"id": "a", "one": {"two": {"three": {"four": {"five": 1}}}}}
    assert list(load([deep], scores=("one.two.three.four.five",)).cases[0].evaluations) == ["one.two.three.four.five"]
    assert (
        fail([deep], scores=("one.*",)) == "no column matches the score 'one.*'; columns of numbers or verdicts: none"
    )
    assert list(
        load([{"id": "a", "one": {"two": {"three": {"four": 1}}}}], scores=("one.*",)).cases[0].evaluations
    ) == ["one.two.three.four"]
    assert list(load([{"id": "a", "x/value": 1}], scores=("*",)).cases[0].evaluations) == ["x"]


def test_missing_columns_name_those_that_exist() -> None:
    row = {"id": "a", "s": 1, "t": "x"}
    assert fail([row], output="out") == "the settings name the column 'out' (output), but it has only id, s, t"
    assert fail([row], input=("q",)).startswith("the settings name the column 'q' (input)")
    many = {"id": "a"} | {f"c{index}": index for index in range(20)}
    names = ", ".join(f"c{index}" for index in range(20))
    assert (
        fail([many], scores=())
        == f"the settings don't name the columns with scores; columns of numbers or verdicts: {names}"
    )
    assert fail([many | {"c20": 1}], scores=("x",)).endswith(f"columns of numbers or verdicts: {names}, …")
    assert fail([]) == "it holds no row"


def test_a_column_may_have_its_first_score_in_any_row() -> None:
    rows = [{"id": "a", "s": None}, {"id": "b", "s": 1}, {"id": "c", "s": "n/a"}]
    assert [len(case.evaluations) for case in load(rows, scores=("s*",)).cases] == [0, 1, 0]
    late = [{"id": "a"}, {"id": "b", "s": 1}]
    assert [len(case.evaluations) for case in load(late, scores=("s*",)).cases] == [0, 1]


def test_a_column_of_any_row_or_depth_exists() -> None:
    deep: dict[str, Any] = {"id": "a", "s": 1, "one": {"two": {"three": {"four": {"five": "x"}}}}}
    assert load([deep], output="one.two.three.four.five").cases[0].output == "x"
    assert [
        case.output for case in load([{"id": "a", "s": 1}, {"id": "b", "s": 1, "out": "x"}], output="out").cases
    ] == [None, "x"]
