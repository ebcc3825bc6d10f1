"""Rows from users' files: valid ones are read, errors have positions."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.store.builders import TEXTS as ANY_TEXT

from scoregate.datasets import Dataset, Datasets
from scoregate.datasets.files import read_csv_rows
from scoregate.errors import InvalidDataset, JudgmentError, JudgmentValidationError

COLUMNS = {"input": "string", "n": "integer", "score": "number", "ok": "boolean", "tags": "array", "more": "object"}
ROW = {"input": "x", "n": 1, "score": 0.5, "ok": True, "tags": ["a"], "more": {"k": None}}


@pytest.fixture
def dataset(datasets: Datasets) -> Dataset:
    return datasets.create("golden", make_schema(COLUMNS))


def make_schema(columns: dict[str, str]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": type_} for name, type_ in columns.items()}}


def to_csv(rows: list[dict[str, Any]], delimiter: str = ",") -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(rows[0])
    writer.writerows([[v if isinstance(v, str) else json.dumps(v) for v in row.values()] for row in rows])
    return out.getvalue()


def make_files(rows: list[dict[str, Any]]) -> dict[str, str]:
    return {
        "a.csv": to_csv(rows),
        "b.CSV": to_csv(rows, ";"),
        "c.tsv": to_csv(rows, "\t"),
        "d.json": json.dumps(rows),
        "e.json": json.dumps({"examples": rows}),
        "f.jsonl": "\n\n".join(map(json.dumps, rows)),
        "g.ndjson": "".join(json.dumps(row) + "\r\n" for row in rows),
        "h.yaml": yaml.safe_dump(rows),
        "i.yml": yaml.safe_dump({"examples": rows}),
    }


@pytest.mark.parametrize("name", make_files([ROW]))
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_kind_of_file_gives_the_same_rows(dataset: Dataset, tmp_path: Path, name: str, mark: str) -> None:
    rows = [ROW, {**ROW, "input": 'two\n"lines"; é,\t|', "n": -3, "tags": [], "more": {}}]
    path = tmp_path / name
    path.write_bytes((mark + make_files(rows)[name]).encode())
    dataset.add_from(path)
    assert [dict(example.properties) for example in dataset] == rows


def test_the_method_sets_the_kind(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    adds = {"a.csv": dataset.add_from_csv, "d.json": dataset.add_from_json, "f.jsonl": dataset.add_from_jsonl}
    for name, add in {**adds, "h.yaml": dataset.add_from_yaml}.items():
        path.write_text(make_files([ROW])[name])
        add(str(path))
    assert [dict(example.properties) for example in dataset] == [ROW] * 4
    with pytest.raises(InvalidDataset, match=r"rows.txt: a file of rows ends in \.csv, "):
        dataset.add_from(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "input,n\nx,1\ny,one\n", "a.csv, row 3: column 'n': must be an integer, not 'one'"),
        ("a.csv", "input,n\nx,1.0\n", "row 2: column 'n': must be an integer, not 1.0"),
        ("a.csv", "input,n\nx,\n", "row 2: column 'n': is missing"),
        ("a.csv", "input,n\nx,NaN\n", "row 2: column 'n': must be an integer"),
        ("a.csv", "input,n\nx\n", "row 2: has 1 cell, but the header has 2"),
        ("a.csv", "input,n\nx,1,2\n", "row 2: has 3 cells, but the header has 2"),
        ("a.csv", "input\nx\n", "row 2: column 'n': is missing"),
        ("a.csv", "input,n,inptu\nx,1,2\n", "row 2: column 'inptu': there is no such column"),
        ("a.csv", "input,n,n\nx,1,2\n", "row 1, column 3: 'n' comes twice"),
        ("a.csv", "input,n,\nx,1,2\n", "row 1, column 3: has no name"),
        ("a.csv", "", "row 1: there is no header"),
        ("a.csv", 'input,n\n"x,1\n', "line 2: is not CSV"),
        ("a.csv", b"input,n\n\xff,1\n", "a.csv:2: is not UTF-8: byte 1 of the line is 0xff"),
        ("a.json", "[", "a.json:1:2: is not JSON"),
        ("a.json", '{"input": "x"}', "or an object with such a list under 'examples', not an object with 'input'"),
        ("b.json", '{"examples": 3}', "or an object with such a list under 'examples', not int"),
        ("a.json", "[1]", "a.json, row 1: must be an object, not 1"),
        ("a.json", '[{"n": 1, "n": 2, "input": "x"}]', "'n' comes twice"),
        ("a.json", b'["\xff"]', "is not UTF-8: byte 3"),
        ("a.json", "[" * 200_000, "nested too deeply"),
        ("a.jsonl", '{"input": "x", "n": 1}\n\n{"input": "x"}', "a.jsonl:3: column 'n': is missing"),
        ("a.jsonl", '{"input": "x", "n": 1}\n{', "a.jsonl:2: is not JSON"),
        ("a.jsonl", "[1]", "a.jsonl:1: must be an object, not [1]"),
        ("a.jsonl", '{"input": "x", "n": 1, "n": 2}', "a.jsonl:1: 'n' comes twice"),
        ("a.jsonl", '{"input": "x", "n": NaN}', "a.jsonl:1: NaN is not a JSON number"),
        ("a.jsonl", b'{"input": "\xff", "n": 1}', "a.jsonl:1: is not UTF-8"),
        ("a.jsonl", "<<<<<<< HEAD\n", "a.jsonl:1: git left a merge conflict here"),
        ("a.jsonl", "[" * 200_000, "a.jsonl:1: is nested too deeply"),
        ("a.yaml", "- input: x\n  n: 1\n- input: no\n  n: 2\n", "row 2: column 'input': must be a string, not False"),
        ("a.yaml", "- input: 2026-01-01\n  n: no\n", "row 1: column 'n': must be an integer, not False"),
        ("a.yaml", "- input: [\n", "a.yaml:2: it is not YAML"),
        ("a.yaml", "- input: x\n  n: 1\n  n: 2\n", "a.yaml:3: the key 'n' occurs twice, first in line 2; keep one"),
        ("a.yaml", "- &a {input: x, n: 1}\n- *a\n", "a.yaml:2: *a is an alias"),
        ("a.yaml", "!!python/object:os.system {}", "a.yaml:1: the tag tag:yaml.org,2002:python/object:os"),
        ("a.yaml", "text", "must be a list of objects"),
        ("missing.csv", None, "missing.csv cannot be read: No such file"),
        ("missing.json", None, "missing.json cannot be read: No such file"),
    ],
)
def test_errors_have_a_position_and_add_nothing(
    datasets: Datasets, tmp_path: Path, name: str, text: str | bytes | None, message: str
) -> None:
    dataset = datasets.create("golden", make_schema({"input": "string", "n": "integer"}))
    path = tmp_path / name
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(JudgmentError) as exc_info:
        dataset.add_from(path)
    assert message in exc_info.value.message
    assert len(exc_info.value.message) < 1000
    assert len(datasets.get("golden")) == 0


def test_all_errors_are_reported_up_to_a_limit(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("input,n\n" + f"x,{'9x' * 5000}\n" * 1000)
    with pytest.raises(JudgmentValidationError) as exc_info:
        dataset.add_from_csv(path)
    assert len(exc_info.value.message.splitlines()) == 10
    assert len(exc_info.value.message) < 10_000


def test_many_aliases_do_not_fill_the_memory(dataset: Dataset, tmp_path: Path) -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))]
    (tmp_path / "a.yaml").write_text("\n".join(lines))
    with pytest.raises(InvalidDataset, match="is an alias"):
        dataset.add_from_yaml(tmp_path / "a.yaml")


def test_a_file_becomes_a_dataset(datasets: Datasets, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("zip,n\n01234,1\n")
    dataset = datasets.create_from("text", tmp_path / "a.csv")
    assert [dict(example.properties) for example in dataset] == [{"zip": "01234", "n": "1"}]
    typed = datasets.create_from("typed", tmp_path / "a.csv", make_schema({"zip": "string", "n": "integer"}))
    assert [dict(example.properties) for example in typed] == [{"zip": "01234", "n": 1}]
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": 1.5}\n')
    assert datasets.create_from("found", tmp_path / "a.jsonl").version.columns == {"a": "number"}
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(InvalidDataset, match=r"a\.jsonl:2: is not JSON"):
        datasets.create_from("wrong", tmp_path / "a.jsonl")


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT), min_size=1, max_size=5), st.sampled_from(",;\t|"))
def test_any_text_round_trips(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], mark: str) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=mark, quoting=csv.QUOTE_ALL)
    writer.writerows([("in,p;ut", "b"), *rows])
    path.write_bytes(out.getvalue().encode())
    expected = [{"in,p;ut": one, "b": two} for one, two in rows if one or two]
    assert [row for _, row in read_csv_rows(path)] == expected
