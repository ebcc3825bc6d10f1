"""Rows of any tool: columns by name, forms of files, and clear errors for what is missing."""

from __future__ import annotations

import json

import pytest
from tests.features.imports.files import DATA, imported, imported_file

from scoregate.errors import ImportFailed, MissingExtra
from scoregate.kernel.run.plan import RowColumns

CASES = [
    {"id": "a", "q": {"text": "Capital of France?"}, "out": "Paris", "good": True, "brief": 1, "why": "short"},
    {"id": "b", "q": {"text": "Capital of Peru?"}, "out": "Quito", "good": False, "brief": 0.25, "why": "long"},
]
COLUMNS = RowColumns(scores=("good", "br*"), case="id", input=("q.text",), output="out", reason="why")


def lines(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_every_ragas_row_is_a_case_by_its_input() -> None:
    imported_run = imported_file("rows-ragas.csv")
    assert list(imported_run.suites) == ["rows-ragas"]
    scores = {case.input: {name: each.score for name, each in case.evaluations.items()} for case in imported_run.cases}
    assert scores["Capital of France?"] == {"exact_match": 1, "non_llm_string_similarity": 1}
    assert scores["Capital of Peru?"]["non_llm_string_similarity"] == pytest.approx(0.2)
    assert imported_run.cases[2].output == 'a "3"\n'
    assert imported_run.cases[1].evaluations["exact_match"].metadata["expected"] == "Lima"


def test_scorers_of_mlflow_have_their_names_and_reasons() -> None:
    france, peru = imported_file("rows-mlflow.json").cases
    assert (france.evaluations["exact"].passed, peru.evaluations["exact"].passed) == (True, False)
    assert france.evaluations["brief"].metadata["reason"] == "5 characters"
    assert france.evaluations.keys() == {"exact", "brief"}
    assert france.input == {"question": "Capital of France?"}


def test_parquet_is_read_with_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    data = (DATA / "rows-ragas.parquet").read_bytes()
    columns = RowColumns(scores=("exact_match",), input=("user_input",))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="pyarrow is not installed"):
        imported("rows", data, name="x.parquet", columns=columns)
    monkeypatch.undo()
    pytest.importorskip("pyarrow")
    assert [case.evaluations["exact_match"].score for case in import_parquet(data).cases] == [1, 0, 0]
    with pytest.raises(ImportFailed, match="damaged after row 0"):
        import_parquet(data[:2000])


def import_parquet(data: bytes):  # type: ignore[no-untyped-def]
    columns = RowColumns(scores=("exact_match",), input=("user_input",))
    return imported("rows", data, name="x.parquet", columns=columns)


FORMS = {
    "x.jsonl": lines(CASES),
    "array.json": json.dumps(CASES),
    "member.json": json.dumps({"version": 2, "results": CASES}),
    "split.json": json.dumps({"columns": [*CASES[0]], "data": [[*row.values()] for row in CASES]}),
    "columns.json": json.dumps({name: {str(n): row[name] for n, row in enumerate(CASES)} for name in CASES[0]}),
    "lists.json": json.dumps({name: [row[name] for row in CASES] for name in CASES[0]}),
}


def test_all_forms_of_json_are_the_same_cases() -> None:
    for name, data in FORMS.items():
        a, b = imported("rows", data, name=name, columns=COLUMNS).cases
        assert (a.hash, a.input, a.output) == ("a", "Capital of France?", "Paris"), name
        assert (b.evaluations["good"].passed, b.evaluations["brief"].score) == (False, 0.25), name
        assert b.evaluations["brief"].metadata["reason"] == "long", name


def test_positional_ids_are_paired_by_input() -> None:
    rows = [{"q": "one?", "score": 1}, {"q": "two?", "score": 0}]
    columns = RowColumns(scores=("score",), input=("q",))
    before = {case.hash for case in imported("rows", lines(rows), name="x.jsonl", columns=columns).cases}
    more = [{"q": "zero?", "score": 1}, *rows]
    after = {case.hash for case in imported("rows", lines(more), name="x.jsonl", columns=columns).cases}
    assert (len(before), len(after), before <= after) == (2, 3, True)
    numbered = RowColumns(scores=("score",), case="n", input=("q",))
    one, two = (
        {case.input: case.hash for case in imported("rows", lines(rows_given), name="x.jsonl", columns=numbered).cases}
        for rows_given in (
            [{"n": n} | row for n, row in enumerate(rows)],
            [{"n": n} | row for n, row in enumerate(more)],
        )
    )
    assert one == {question: two[question] for question in one}
    stable = lines([{"n": 4000 + n} | row for n, row in enumerate(rows)])
    assert [case.hash for case in imported("rows", stable, name="x.jsonl", columns=numbered).cases] == ["4000", "4001"]


def test_repeats_without_an_id_are_those_of_an_input_and_an_expected_output() -> None:
    rows = [{"q": "one?", "e": 1, "s": 1}, {"q": "one?", "e": 2, "s": 0}, {"q": "one?", "e": 1, "s": 0}]
    columns = RowColumns(scores=("s",), input=("q",), expected="e", repeats=True)
    cases = imported("rows", lines(rows), name="x.jsonl", columns=columns).cases
    assert [case.repeat for case in cases] == [0, 0, 1]
    assert cases[0].hash == cases[2].hash != cases[1].hash


def test_a_column_with_its_first_number_in_a_late_row_is_a_score_of_a_glob() -> None:
    rows = [{"id": f"c{n}", "a_score": 1, "b_score": 0.1 if n == 99 else None} for n in range(100)]
    imported_run = imported("rows", lines(rows), name="x.jsonl", columns=RowColumns(scores=("*_score",), case="id"))
    assert imported_run.cases[99].evaluations["b_score"].score == 0.1
    assert [error.evaluator for case in imported_run.cases for error in case.errors] == ["b_score"] * 99


def test_a_missing_score_is_a_case_error() -> None:
    rows = [
        {"id": "a", "s": 1.0},
        {"id": "b", "s": None},
        {"id": "c"},
        {"id": "d", "s": "good"},
        {"id": "e", "s": "NaN"},
        {"id": "f", "s": float("nan")},
        {"id": "g", "s": float("-inf")},
    ]
    imported_run = imported("rows", lines(rows), name="x.jsonl", columns=RowColumns(scores=("s",), case="id"))
    messages = [error.error.message for case in imported_run.cases for error in case.errors]
    assert messages == [
        "line 2 has no 's'", "line 3 has no 's'", "line 4: 'good' is not a score", "line 5: 'NaN' is not a score",
        "line 6: nan is not a score", "line 7: -inf is not a score",
    ]  # fmt: skip


def test_suites_tags_errors_and_repeats_have_columns() -> None:
    rows = [
        {"suite": "hours", "id": "a", "s": 1, "tags": ["x", "y"], "error": ""},
        {"suite": "hours", "id": "a", "s": 0, "tags": "x", "error": None},
        {"suite": "tone", "id": "a", "s": 1, "tags": "", "error": "time limit"},
    ]
    columns = RowColumns(scores=("s",), case="id", suite="suite", tags="tags", error="error", repeats=True)
    imported_run = imported("rows", lines(rows), name="x.jsonl", columns=columns)
    assert list(imported_run.suites) == ["hours", "tone"]
    assert [(case.repeat, case.tags) for case in imported_run.cases] == [(0, ("x", "y")), (1, ("x",)), (0, ())]
    assert imported_run.cases[2].errors[0].error.message == "time limit"


def test_long_names_that_differ_at_the_end_are_separate() -> None:
    rows = [{"suite": "long " * 60 + end, "id": "a", "s": 1} for end in ("x", "y")]
    imported_run = imported(
        "rows", lines(rows), name="x.jsonl", columns=RowColumns(scores=("s",), case="id", suite="suite")
    )
    assert len(imported_run.suites) == 2
    assert [suite.errors for suite in imported_run.suites.values()] == [(), ()]


REFUSED = {
    ("x.jsonl", '{"a": 1}\n{"a": \n'): "line 2 is not JSON",
    ("x.jsonl", "[1]\n"): "line 1 is not an object",
    ("x.jsonl", ""): "it holds no row",
    ("x.csv", "id,s\na,1,2\n"): "line 2 has 3 cells, but the header has 2",
    ("x.csv", 'id,s\n"a,1\n'): "line 2: it is not CSV",
    ("x.csv", "id,id\n"): "two of its columns have the same name",
    ("x.json", "[1]"): "row 1 is not an object",
    ("x.json", '{"columns": ["a"], "data": [[1, 2]]}'): "row 1 doesn't have 1 cells",
    ("x.json", '{"columns": ["s", "s"], "data": [[1, 2]]}'): "two of its columns have the same name",
    (
        "x.jsonl",
        '{"id": "a", "s": 1}\n{"id": "b", "s": 1, "s": 0}',
    ): "line 2: the key 's' occurs twice, so its value is",
    ("x.jsonl", '{"id": "a", "s": 1, "more": [{"x": 1, "x": 1}]}'): "line 1: the key 'x' occurs twice",
    ("x.json", '[{"id": "a", "s": 1},\n {"id": "b", "s": 1, "s": 0}]'): "line 2, column 2: the key 's' occurs twice",
    ("x.json", '{"s": {"0": 1},\n "s": {"0": 0}}'): "line 2, column 7: the key 's' occurs twice",
    ("x.json", '{"rows": [{"id": "a", "s": 1}], "rows": []}'): "the key 'rows' occurs twice",
    ("x.json", '{"a": {"0": 1}, "b": 2}'): "its members are not columns of equal length",
    ("x.json", '{"a": {"0": 1}, "b": {"1": 2}}'): "is missing in a column",
    ("x.json", "7"): "neither a JSON array nor a JSON object",
    ("x.parquet", "no"): "it is not Parquet",
    ("x.txt", "no"): "the end of its name must be .jsonl",
    ("x.jsonl", '{"id": "a", "points": 3}'): "no column matches the score 's'; columns of numbers or verdicts: points",
}


def test_damage_and_missing_columns_have_places() -> None:
    for (name, data), message in REFUSED.items():
        with pytest.raises(ImportFailed) as failure:
            imported("rows", data, name=name, columns=RowColumns(scores=("s",)))
        assert message in failure.value.message, (name, data, failure.value.message)


def test_required_column_settings() -> None:
    with pytest.raises(ImportFailed, match="with scores; columns of numbers or verdicts: good, brief"):
        imported("rows", FORMS["x.jsonl"], name="x.jsonl")
    with pytest.raises(ImportFailed, match=r"name the column 'question' \(input\), but it has only id, q, q.text, out"):
        imported("rows", FORMS["x.jsonl"], name="x.jsonl", columns=RowColumns(scores=("good",), input=("question",)))


def test_a_column_of_exactly_this_name_comes_before_a_pattern() -> None:
    rows: list[dict[str, object]] = [{"q": "x", "b*": 1, "brief": 0}]
    (case,) = imported("rows", lines(rows), name="x.jsonl", columns=RowColumns(scores=("b*",), input=("q",))).cases
    assert list(case.evaluations) == ["b*"]
