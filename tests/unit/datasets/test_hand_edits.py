"""Edits of a dataset's files by people and git: a valid edit becomes a version, an error has file and line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from scoregate.datasets import Datasets, open_version
from scoregate.errors import JudgmentConflictError, StoreError


@pytest.fixture(autouse=True)
def golden(datasets: Datasets) -> None:
    datasets.create("golden", examples=[{"input": text, "n": n} for n, text in enumerate("abcd")])


def inputs(datasets: Datasets, version: int | None = None) -> str:
    return "".join(example["input"] for example in datasets.get("golden", version))


def test_a_diff_of_a_row_is_a_line_with_only_fields(datasets: Datasets, folder: Path) -> None:
    assert (folder / "rows.jsonl").read_text() == "".join(
        f'{{"input": "{t}", "n": {n}}}\n' for n, t in enumerate("abcd")
    )
    datasets.get("golden").add_examples([{"n": 9, "input": "é"}])
    assert (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()[-1] == '{"input": "é", "n": 9}'
    assert sorted(path.name for path in folder.iterdir()) == ["history.jsonl", "rows.jsonl", "schema.json"]
    assert (folder / "history.jsonl").read_text(encoding="utf-8").count("é") == 1, "a row stands there once"


def test_an_edit_becomes_a_version_at_next_use_and_rows_keep_ids(datasets: Datasets, folder: Path) -> None:
    lines = (folder / "rows.jsonl").read_text().splitlines()
    (folder / "rows.jsonl").write_text("\n".join([lines[3], lines[0].replace("a", "x"), lines[1], lines[1]]))
    assert [(e.example_id, e["input"]) for e in datasets.get("golden")] == [(4, "d"), (5, "x"), (2, "b"), (6, "b")]
    assert (inputs(datasets, 1), inputs(datasets, 2)) == ("abcd", "dxbb")


def test_spaces_and_key_order_make_no_version_and_are_normalized(datasets: Datasets, folder: Path) -> None:
    rows = folder / "rows.jsonl"
    before = rows.read_bytes()
    rows.write_bytes(
        b"\xef\xbb\xbf" + b"\r\n\r\n".join(json.dumps(json.loads(x)).encode() for x in before.splitlines())
    )
    rows.write_bytes(rows.read_bytes().replace(b'"input": "a", "n": 0', b'"n":0,"input":"\\u0061"'))
    assert len(datasets.versions("golden")) == 1
    assert rows.read_bytes() == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "must be an object, not []"),
        ('{"input": "x"}', "column 'n': is missing"),
        ('{"input": "x", "n": true}', "column 'n': must be an integer, not True"),
        ('{"input": "x", "n": 1, "n": 2}', "'n' comes twice"),
        ('{"input": "x", "n": 1, "m": 2}', "column 'm': there is no such column"),
        ('{"input": "x", "n": 1e999}', "column 'n': must be an integer"),
        ("<<<<<<< HEAD", "git left a merge conflict here"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_an_invalid_row_writes_nothing(datasets: Datasets, folder: Path, line: str, message: str) -> None:
    rows = folder / "rows.jsonl"
    rows.write_text(rows.read_text() + "\n" + line + "\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for act in (lambda: datasets.get("golden"), lambda: datasets.versions("golden"), lambda: inputs(datasets, 1)):
        with pytest.raises(StoreError) as exc_info:
            act()
        assert "golden/rows.jsonl:6: " in exc_info.value.message
        assert message in exc_info.value.message
        assert exc_info.value.advice
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [info.entries for info in datasets.list()] == [4]


def test_an_edited_schema_applies_to_all_rows_but_not_to_old_versions(datasets: Datasets, folder: Path) -> None:
    card = folder / "schema.json"
    before = datasets.get("golden")
    card.write_text(card.read_text().replace('"integer"', '"string"'))
    with pytest.raises(StoreError, match=r"rows\.jsonl:1: column 'n': must be a string, not 0"):
        datasets.get("golden")
    rows = folder / "rows.jsonl"
    rows.write_text(re.sub(r'"n": (\d)', r'"n": "\1"', rows.read_text()))
    version, examples = open_version(datasets.store, "golden")
    assert (version.version_number, version.columns) == (2, {"input": "string", "n": "string"})
    assert [example["n"] for example in examples] == list("0123")
    assert datasets.get("golden", 1).version == before.version


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda text: text.replace('"name": "golden"', '"name": "other"'),
            r"its name is 'other', its folder's 'golden'",
        ),
        (lambda text: text.replace('"type": "integer"', '"type": "whole"'), "the type of column 'n' must be one of"),
        (lambda text: text.replace('"name"', '"nmae"'), "nmae: there is no such field"),
        (lambda text: f"<<<<<<< HEAD\n{text}", r"schema\.json:1: git left a merge conflict"),
        (lambda _: "", r"schema\.json:1: Invalid JSON"),
    ],
)
def test_an_invalid_card_fails(datasets: Datasets, folder: Path, change: Callable[[str], str], message: str) -> None:
    card = folder / "schema.json"
    card.write_text(change(card.read_text()))
    with pytest.raises(StoreError, match=rf"schema\.json.*{message}|{message}"):
        datasets.get("golden")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[1:], r"history\.jsonl:4: of the 4 rows of version 1, 1 are missing above"),
        (lambda lines: [*lines[:4], *lines[5:]], r"history\.jsonl:6: version 2 does not fit the version before it"),
        (lambda lines: [*lines[:5], "=======", *lines[5:]], r"history\.jsonl:6: git left a merge conflict here"),
        (lambda lines: [*lines[:2], "{}", *lines[2:]], r"history\.jsonl:3: .*is missing"),
        (
            lambda lines: [line.replace('"count": 5', '"count": 6') for line in lines],
            "version 2 has 5 rows, but its count is 6",
        ),
        (lambda lines: [line.replace("[[0, 4], 1]", "[[1, 4], 1]") for line in lines], "does not fit"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "do not match their checksum"),
        (lambda lines: [lines[0].replace('"a"', '"x"'), *lines[1:]], "do not match their checksum"),
        (lambda _: [], "has no version"),
    ],
)
def test_a_damaged_history_is_an_error(
    datasets: Datasets, folder: Path, change: Callable[[list[str]], list[str]], message: str
) -> None:
    datasets.get("golden").add_examples([{"input": "e", "n": 4}])
    history = folder / "history.jsonl"
    history.write_text("".join(line + "\n" for line in change(history.read_text().splitlines())))
    with pytest.raises(StoreError, match=message):
        inputs(datasets)


@pytest.mark.parametrize("name", ["rows.jsonl", "history.jsonl"])
def test_a_missing_file_fails(datasets: Datasets, folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(StoreError, match=rf"{name} is missing"):
        datasets.get("golden")
    with pytest.raises(JudgmentConflictError):
        datasets.create("golden", examples=[{"a": 1}])
    assert datasets.delete("golden")


def test_a_copied_folder_fails(datasets: Datasets, folder: Path) -> None:
    copy = folder.with_name("copy")
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    with pytest.raises(StoreError, match="its name is 'golden', its folder's 'copy'"):
        datasets.get("copy")


def test_a_link_that_leaves_the_store_is_refused(datasets: Datasets, folder: Path, tmp_path: Path) -> None:
    (folder / "rows.jsonl").unlink()
    (tmp_path / "secret").write_text("x")
    (folder / "rows.jsonl").symlink_to(tmp_path / "secret")
    with pytest.raises(StoreError, match="a link to a place outside the store"):
        datasets.get("golden")


def test_reading_reports_a_changed_file(datasets: Datasets, folder: Path) -> None:
    examples = iter(datasets.get("golden"))
    next(examples)
    history = folder / "history.jsonl"
    history.write_bytes(history.read_bytes().replace(b'"b"', b'"x"'))
    _, again = open_version(datasets.store, "golden", 1)
    with pytest.raises(StoreError, match="do not match their checksum"):
        list(again)
