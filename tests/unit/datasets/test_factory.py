"""`client.datasets`: what is made, found, listed and deleted, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.fakes.read_only import refuse_locks

import scoregate
from scoregate import Client, Judgeval
from scoregate.datasets import Datasets, Example, Schema
from scoregate.datasets.schema import TYPES
from scoregate.errors import (
    InvalidDataset,
    JudgmentConflictError,
    JudgmentError,
    JudgmentValidationError,
    MissingExtra,
    StoreError,
)
from scoregate.store import open_store

ROW = {"input": "When do you open?", "expected_output": "At nine."}
TEXTS = {"type": "object", "properties": {"input": {"type": "string"}, "expected_output": {"type": "string"}}}


def rows(dataset: Any) -> list[dict[str, Any]]:
    return [dict(example.properties) for example in dataset]


def test_a_dataset_is_created_found_listed_and_deleted(datasets: Datasets) -> None:
    dataset = datasets.create("golden", examples=[Example.create(**ROW)], description="What we must not break.")
    for found in (datasets.get("golden"), datasets.get(dataset.dataset_id)):
        assert (rows(found), len(found), found.name) == ([ROW], 1, "golden")
        assert (found.version, found.dataset_id, found.schema) == (dataset.version, dataset.dataset_id, TEXTS)
    (info,) = datasets.list()
    assert (info.dataset_id, info.name, info.entries, info.current_version) == (dataset.dataset_id, "golden", 1, 1)
    assert (info.schema, info.description, info.test_config_count) == (TEXTS, "What we must not break.", 0)
    assert datasets.delete("golden")
    assert not datasets.delete("golden")
    assert datasets.list() == []


def test_each_addition_makes_a_version_and_old_ones_stay(datasets: Datasets) -> None:
    dataset = datasets.create("golden", schema=TEXTS)
    dataset.add_examples(Example.create(input=str(n), expected_output="") for n in range(250))
    dataset.add_examples([{**ROW, "input": "last"}], batch_size=1)
    dataset.add_examples([])
    assert [(v.version_number, v.item_count) for v in dataset.versions()] == [(3, 251), (2, 250), (1, 0)]
    assert [example["input"] for example in datasets.get("golden", 2)] == [str(n) for n in range(250)]
    assert [example.example_id for example in dataset] == list(range(1, 252))
    for version in datasets.versions("golden"):
        assert len(datasets.get("golden", str(version.version_id)).examples) == version.item_count
    with pytest.raises(AttributeError):
        dataset.version.item_count = 1  # type: ignore[misc]


def test_a_dataset_has_a_newest_version(datasets: Datasets) -> None:
    dataset = datasets.create("golden", examples=[{"a": 1}])
    assert dataset.current_version == 1
    dataset.add_examples([{"a": 2}])
    assert (dataset.current_version, datasets.get("golden").current_version) == (2, 2)
    older = datasets.get("golden", 1)
    assert (older.version.version_number, older.current_version) == (1, 2)


def test_an_open_dataset_does_not_see_rows_of_others(datasets: Datasets) -> None:
    held = datasets.create("golden", examples=[ROW])
    datasets.get("golden").add_examples([ROW])
    assert len(held) == len(held.examples) == 1
    held.add_examples([ROW])
    assert len(held) == len(held.examples) == 3


def test_an_existing_name_is_a_conflict_unless_it_is_overwritten(datasets: Datasets) -> None:
    old = datasets.create("golden", examples=[ROW, ROW])
    with pytest.raises(JudgmentConflictError, match=r"'golden' already\n.*overwrite=True"):
        datasets.create("golden", examples=[ROW])
    assert len(datasets.get("golden")) == 2
    new = datasets.create("golden", examples=[{"q": 1}], overwrite=True)
    assert new.dataset_id != old.dataset_id
    assert rows(datasets.get("golden")) == [{"q": 1}]
    assert len(datasets.versions("golden")) == 1
    with pytest.raises(JudgmentValidationError):
        datasets.create("golden", schema=TEXTS, examples=[{"q": 1}], overwrite=True)
    assert rows(datasets.get("golden")) == [{"q": 1}], "what is wrong replaces nothing"


class Configs:
    """Test configs in memory."""

    def __init__(self) -> None:
        self.names = ["nightly"]
        self.counted = 0

    def of(self, _dataset_id: str, name: str) -> list[str]:
        return self.names if name == "golden" else []

    def counts(self) -> dict[str, int]:
        self.counted += 1
        return {"golden": len(self.names)}

    def delete(self, _dataset_id: str, name: str) -> None:
        assert name == "golden"
        self.names = []


def test_dependents_of_a_dataset_are_counted_and_deleted_with_it(tmp_path: Path) -> None:
    configs = Configs()
    datasets = Datasets(open_store(tmp_path), configs)
    dataset = datasets.create("golden", examples=[ROW])
    datasets.create("other", examples=[ROW])
    assert [info.test_config_count for info in datasets.list()] == [1, 0]
    assert configs.counted == 1, "once for all datasets"
    with pytest.raises(JudgmentValidationError, match="test configs use it: nightly"):
        datasets.create("golden", examples=[ROW], overwrite=True)
    assert dataset.delete()
    assert datasets.create("golden", examples=[ROW]).version.version_number == 1


@pytest.mark.parametrize("type_", TYPES)
def test_each_type_of_column_accepts_only_its_values(datasets: Datasets, type_: str) -> None:
    values: dict[str, list[Any]] = {
        "string": ["", "text"],
        "integer": [0, -1, 10**30],
        "number": [0.25, 0.5, -1e300],
        "boolean": [True, False],
        "array": [[], [1, "a", None]],
        "object": [{}, {"a": [{"b": None}]}],
        "trace": ["0af7651916cd43dd8448eb211c80319c"],
    }
    takes = {"number": {"number", "integer"}, "string": {"string", "trace"}, "trace": {"trace", "string"}}
    dataset = datasets.create("golden", {"type": "object", "properties": {"x": {"type": type_}}})
    dataset.add_examples([{"x": value} for value in values[type_]])
    assert [example["x"] for example in dataset] == values[type_]
    others = [value for other, each in values.items() for value in each if other not in takes.get(type_, {type_})]
    for value in others:
        with pytest.raises(JudgmentValidationError, match=r"example 1: column 'x': must be an? "):
            dataset.add_examples([{"x": value}])
    assert len(dataset) == len(values[type_])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"input": "x"}, "column 'expected_output': is missing"),
        ({"input": "x", "expected_output": None}, "column 'expected_output': is missing"),
        ({**ROW, "inptu": 1}, "column 'inptu': there is no such column; the schema has input, expected_output"),
        ({**ROW, "input": float("nan")}, "column 'input': must be a string, not nan"),
    ],
)
def test_an_invalid_row_adds_none(datasets: Datasets, row: dict[str, Any], message: str) -> None:
    dataset = datasets.create("golden", TEXTS)
    with pytest.raises(JudgmentValidationError) as exc_info:
        dataset.add_examples([ROW, ROW, row])
    assert f"example 3: {message}" in exc_info.value.message
    assert "Nothing was added" in exc_info.value.advice
    assert len(datasets.get("golden")) == 0
    assert len(dataset.versions()) == 1


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), [float("nan")], [object()], [[{1: object()}]], [{1: 2}], [(1,)]]
)
def test_values_without_json_are_refused(datasets: Datasets, value: Any) -> None:
    type_ = "array" if isinstance(value, list) else "number"
    dataset = datasets.create("golden", {"type": "object", "properties": {"x": {"type": type_}}})
    with pytest.raises(JudgmentValidationError, match="example 1: "):
        dataset.add_examples([{"x": value}])


def test_a_row_nested_too_deeply_is_refused(datasets: Datasets) -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    dataset = datasets.create("golden", {"type": "object", "properties": {"x": {"type": "array"}}})
    with pytest.raises(JudgmentValidationError, match="nested too deeply"):
        dataset.add_examples([{"x": value}])


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ([], "the schema must be an object"),
        ({}, "the schema's type must be 'object', not None"),
        ({"type": "array"}, "the schema's type must be 'object', not 'array'"),
        ({"type": "object"}, "the schema's properties must be an object"),
        ({"type": "object", "properties": {}}, "the schema's properties must be an object"),
        ({"type": "object", "properties": {"a": "string"}}, "the schema of column 'a' must be an object"),
        ({"type": "object", "properties": {"a": {"type": "text"}}}, "the type of column 'a' must be one of string, "),
        ({"type": "object", "properties": {"a": {"type": ["string"]}}}, "must be one of"),
        ({"type": "object", "properties": {"a": {"type": "string", "enum": []}}}, "column 'a' contains 'enum'"),
        ({"type": "object", "properties": {" ": {"type": "string"}}}, "a column needs a name"),
        (
            {"type": "object", "properties": {"a": {"type": "trace"}, "b": {"type": "trace"}}},
            r"2 columns of type trace, and may have one: \['a', 'b'\]",
        ),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]}, "requires"),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True}, "additional"),
    ],
)
def test_an_invalid_schema_is_a_value_error(datasets: Datasets, schema: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as exc_info:
        datasets.create("golden", schema)
    assert isinstance(exc_info.value, JudgmentError)
    assert datasets.list() == []


def test_a_schema_can_repeat_defaults(datasets: Datasets) -> None:
    column = {"type": "string", "description": "what people ask"}
    schema = {"type": "object", "properties": {"a": column}, "required": ["a"], "additionalProperties": False}
    assert datasets.create("golden", schema).version.columns == {"a": "string"}


def test_types_are_inferred(datasets: Datasets) -> None:
    row = {"s": "x", "b": True, "i": 1, "n": 0.5, "a": [1], "o": {"k": 1}, "nothing": None}
    dataset = datasets.create("golden", examples=[row, {**row, "n": 2}])
    assert dataset.version.columns == {
        "s": "string", "b": "boolean", "i": "integer", "n": "number", "a": "array", "o": "object",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([], "needs a schema, or examples"),
        ([{}], "needs a schema, or examples"),
        ([{"a": None}], "needs a schema, or examples"),
        ([{"a": 1, "b": 1}, {"a": 1, "c": 1}], r"different fields: \['b', 'c'\]"),
        ([{"a": 1}, {"a": "1"}], "field 'a': integer in the examples before, string in example 2"),
        ([{"a": object()}], "no column can hold"),
    ],
)
def test_examples_without_a_schema_are_a_value_error(datasets: Datasets, examples: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        datasets.create("golden", examples=examples)


@pytest.mark.parametrize("examples", [Example.create(**ROW), ROW, "text", [1], [None], [[1]]])
def test_other_values_than_lists_are_a_type_error(datasets: Datasets, examples: Any) -> None:
    dataset = datasets.create("golden", TEXTS)
    for act in (dataset.add_examples, lambda given: datasets.create("other", TEXTS, given)):
        with pytest.raises(TypeError, match="example"):
            act(examples)
    assert [(info.name, info.entries) for info in datasets.list()] == [("golden", 0)]


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, None, 7])
def test_a_name_is_required(datasets: Datasets, name: Any) -> None:
    with pytest.raises(InvalidDataset, match="needs a name"):
        datasets.create(name, TEXTS)


def test_missing_items_are_named(datasets: Datasets) -> None:
    datasets.create("golden", TEXTS)
    for act in (datasets.get, datasets.versions):
        with pytest.raises(JudgmentValidationError, match=r"no dataset 'gold'\nDid you mean 'golden'"):
            act("gold")
    for version in (0, 2, -1, True, "1", "x", str(2**60)):
        with pytest.raises(ValueError, match=f"Dataset version {version} does not exist"):
            datasets.get("golden", version)


def test_names_and_traces_are_stored(datasets: Datasets) -> None:
    properties = {"input": {"type": "string"}, "run": {"type": "trace"}}
    dataset = datasets.create("golden", {"type": "object", "properties": properties})
    dataset.add_examples([Example.create(name="first", offline_trace_id="ab" * 16, input="x")])
    (example,) = dataset
    assert (example.name, example.offline_trace_id, example["run"]) == ("first", "ab" * 16, "ab" * 16)
    assert "input" in example
    assert "name" not in example
    assert example.to_dict() == {
        "example_id": 1, "created_at": dataset.version.created_at.isoformat(), "name": "first",
        "offline_trace_id": "ab" * 16, "input": "x", "run": "ab" * 16,
    }  # fmt: skip
    plain = datasets.create("plain", TEXTS)
    with pytest.raises(JudgmentValidationError, match="'offline_trace_id': there is no such column"):
        plain.add_examples([Example.create(offline_trace_id="ab" * 16, **ROW)])
    assert Schema({"name": "string"}).line({"name": "a column"}) == b'{"name": "a column"}'


def test_an_example_has_an_id_and_a_time_at_once() -> None:
    before = datetime.now(UTC)
    one, other = Example.create(input="x"), Example.create(input="x")
    assert UUID(str(one.example_id)) != UUID(str(other.example_id))
    assert before <= datetime.fromisoformat(one.created_at) <= datetime.fromisoformat(other.created_at)
    assert one.to_dict() == {"example_id": one.example_id, "created_at": one.created_at, "input": "x"}


def test_examples_of_a_dataset_have_the_time_of_their_version(datasets: Datasets) -> None:
    dataset = datasets.create("golden", examples=[{"n": 1}, {"n": 2}])
    dataset.add_examples([{"n": 3}])
    newest, oldest = (each.created_at.isoformat() for each in dataset.versions())
    assert newest > oldest
    assert [(each.example_id, each.created_at) for each in dataset] == [(1, oldest), (2, oldest), (3, newest)]


@pytest.mark.parametrize("type_", ["json", "yaml"])
def test_saved_rows_can_be_added(datasets: Datasets, tmp_path: Path, type_: Any) -> None:
    rows_ = [{"input": text, "expected_output": "x"} for text in ("2026-01-01", "no", "é\u202e\x7f", "a\nb", "1", " ")]
    path = datasets.create("golden", examples=rows_).save_as(type_, tmp_path / "out")
    assert path == tmp_path / "out" / f"golden.{type_}"
    copy = datasets.create("copy", TEXTS)
    {"json": copy.add_from_json, "yaml": copy.add_from_yaml}[type_](str(path), batch_size=10)
    assert rows(copy) == rows_
    assert datasets.get("golden").save_as(type_, tmp_path, "other").name == f"other.{type_}"


def test_saving_another_format_is_a_value_error(datasets: Datasets, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'json' or 'yaml', not 'xml'"):
        datasets.create("golden", TEXTS).save_as("xml", tmp_path)  # type: ignore[arg-type]


def test_a_hostile_name_stays_in_its_folder(datasets: Datasets, tmp_path: Path) -> None:
    for name in ("../../etc", ".gitattributes", "a/b", "CON", "\x1b[31m", "é" * 100, "schema.json", "rows.jsonl"):
        datasets.create(name, examples=[ROW]).add_examples([ROW])
        assert len(datasets.get(name)) == 2
        path = datasets.get(name).save_as("json", tmp_path / "out")
        assert path.resolve().parent == tmp_path / "out"
    assert len(datasets.list()) == 8
    assert sorted(path.name for path in tmp_path.iterdir()) == [".scoregate", "out"]


def test_displaying_shows_rows_without_control_codes(datasets: Datasets, capsys: pytest.CaptureFixture[str]) -> None:
    rows_ = [{"input": f"\x1b[2J\u202e{n}", "expected_output": "é"} for n in range(9)]
    datasets.create("\x1b[31mgolden", examples=rows_).display(2)
    out = capsys.readouterr().out
    assert "version 1, 9 examples" in out
    assert "é" in out
    assert len(out.splitlines()) == 3
    assert out.replace("\n", "").isprintable()


def test_clients_need_no_key_and_share_a_store(tmp_path: Path) -> None:
    Client("shop", store=tmp_path).datasets.create("golden", examples=[ROW])
    other = Judgeval(project_name="shop", store=open_store(tmp_path), api_key="k", organization_id="o", api_url="u")
    assert [info.name for info in other.datasets.list()] == ["golden"]
    assert other.project_name == "shop"
    with pytest.raises(AttributeError, match="no attribute 'Judge'"):
        _ = scoregate.Judge  # type: ignore[attr-defined]


def test_edited_datasets_of_a_read_only_store_are_readable(
    datasets: Datasets, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets.create("golden", examples=[{"n": n} for n in range(5)])
    before = (folder / "history.jsonl").read_bytes()
    (folder / "rows.jsonl").write_text('{"n":4}\n\n{"n":7}\n{ "n": 0 }')
    refuse_locks(monkeypatch)
    found = datasets.get("golden")
    assert (found.version.version_number, [(each.example_id, each["n"]) for each in found]) == (
        2,
        [(5, 4), (6, 7), (1, 0)],
    )
    assert (folder / "history.jsonl").read_bytes() == before
    with pytest.raises(StoreError, match="Read-only file system"):
        found.add_examples([{"n": 1}])
    monkeypatch.undo()
    kept = datasets.get("golden")
    assert kept.version.version_id == found.version.version_id, (
        "whoever makes a version of the same rows makes the same"
    )
    assert [each.example_id for each in kept] == [5, 6, 1]


def test_without_pyyaml_the_package_is_named(
    datasets: Datasets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = datasets.create("golden", TEXTS)
    (tmp_path / "a.yaml").write_text("[]")
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    with pytest.raises(MissingExtra, match=r"PyYAML.*\n.*scoregate\[judges\]"):
        dataset.add_from_yaml(tmp_path / "a.yaml")


def test_examples_are_read_once(datasets: Datasets) -> None:
    def some() -> Iterator[dict[str, Any]]:
        for number in range(3):
            yield {"n": number}

    assert len(datasets.create("golden", examples=some())) == 3
