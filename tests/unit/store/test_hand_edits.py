"""Edits of the store's files by people and git: valid ones are read, errors have file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.store.builders import correction

from scoregate.errors import StoreError
from scoregate.store import OVERRIDES, Override, Store, add_override, read_overrides

GOOD = '{"original_score": 0, "override_score": 1, "output_fields": [{"id": "o", "name": "o", "value": "%s"}]}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / ".scoregate" / "overrides" / "accuracy.jsonl"
    path.parent.mkdir(parents=True)
    return path


def read(store: Store) -> list[Override]:
    return read_overrides(store, "accuracy")


def test_lines_need_no_id_and_time(store: Store, file: Path) -> None:
    file.write_text(GOOD % "a" + "\n" + GOOD % "b")
    one, other = read(store)
    assert len({one.id, other.id, ""}) == 3


def test_line_ends_empty_lines_and_a_byte_order_mark_are_ignored(store: Store, file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(["", GOOD % "a", GOOD % "b", ""]).encode())
    assert len(read(store)) == 2


def test_duplicates_count_once(store: Store, file: Path) -> None:
    file.write_text(GOOD % "a" + "\n" + GOOD % "a" + "\n")
    assert len(read(store)) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "Invalid JSON"),
        ("[]", "must be an object"),
        ("\ufffe", "Invalid JSON"),
        (GOOD.replace("1", "1.5") % "x", "override_score: must be less than or equal to 1, not 1.5"),
        (GOOD.replace("1", '"1"') % "x", "override_score: must be a valid number, not '1'"),
        (GOOD.replace("1", "true") % "x", "override_score: must be a valid number, not True"),
        (GOOD.replace("1", "NaN") % "x", "override_score: must be a finite number"),
        (GOOD.replace("override_score", "overide_score") % "x", "overide_score: there is no such field"),
        (GOOD.replace('"name"', '"nmae"') % "x", "output_fields.0.nmae"),
        ('{"original_score": 0, "override_score": 1}', "needs the input or the output that was judged"),
        ("<<<<<<< HEAD", "git left a merge conflict here"),
        ("=======", "git left a merge conflict here"),
        (">>>>>>> topic", "git left a merge conflict here"),
    ],
)
def test_an_invalid_line_has_file_and_line(store: Store, file: Path, line: str, message: str) -> None:
    file.write_text(GOOD % "a" + "\n\n" + line + "\n")
    with pytest.raises(StoreError) as exc_info:
        read(store)
    assert "overrides/accuracy.jsonl:3: " in exc_info.value.message
    assert message in exc_info.value.message
    assert exc_info.value.advice


def test_two_reviews_of_one_pair_fail(store: Store, file: Path) -> None:
    file.write_text(GOOD % "a" + "\n" + (GOOD % "a").replace("1", "0.5") + "\n")
    with pytest.raises(StoreError, match=r"jsonl:2: differs from .*jsonl:1, and both have the key"):
        read(store)


def test_all_errors_are_reported_up_to_a_limit(store: Store, file: Path) -> None:
    file.write_text(("x" * 10_000 + "\n") * 50)
    with pytest.raises(StoreError) as exc_info:
        read(store)
    assert len(exc_info.value.message.splitlines()) == 10
    assert len(exc_info.value.message) < 5_000


def test_an_invalid_file_stays(store: Store, file: Path) -> None:
    file.write_text(wrong := GOOD % "a" + "\nnot this\n")
    with pytest.raises(StoreError, match="jsonl:2"):
        add_override(store, "accuracy", correction("b"))
    assert file.read_text() == wrong
    assert sorted(path.name for path in file.parent.iterdir()) == ["accuracy.jsonl"]


def test_lines_have_a_fixed_order(store: Store, file: Path) -> None:
    for output in "cab":
        add_override(store, "accuracy", correction(output), by="Ada")
    before = file.read_bytes()
    file.write_bytes(b"".join(reversed(before.splitlines(keepends=True))))
    add_override(store, "accuracy", correction("a"), by="Ada")
    assert file.read_bytes() == before


def test_characters_of_a_line_are_visible(store: Store, file: Path) -> None:
    add_override(store, "accuracy", correction("a\u202eb\u200b\x1b[31m\x9b\u2028é\ud800"))
    text = file.read_text(encoding="utf-8")
    assert text.removesuffix("\n").isprintable()
    assert "é" in text
    expected = "a\u202eb\u200b\x1b[31m\x9b\u2028é?"
    assert json.loads(text)["output_fields"][0]["value"] == expected
    assert read(store)[0].output_fields[0].value == expected


def test_newer_versions_are_refused_older_or_none_read(store: Store, file: Path) -> None:
    file.write_text(GOOD % "a" + "\n")
    version = file.parent.parent / "version"
    assert len(read(store)) == 1
    version.write_text("0\n")
    assert len(read(store)) == 1
    add_override(store, "accuracy", correction("b"))
    assert version.read_text() == "1\n"
    version.write_text("2\n")
    for act in (lambda: read(store), lambda: add_override(store, "accuracy", correction("c"))):
        with pytest.raises(StoreError, match=r"newer scoregate: its version is 2, this one reads up to 1\n.*upgrade"):
            act()
    with pytest.raises(StoreError, match="newer"):
        list(store.list_keys(OVERRIDES))


@pytest.mark.parametrize(("text", "message"), [("<<<<<<< HEAD\n1\n", "merge conflict"), ("one\n", "must be a number")])
def test_an_invalid_version_fails(store: Store, file: Path, text: str, message: str) -> None:
    (file.parent.parent / "version").write_text(text)
    with pytest.raises(StoreError, match=rf"version:1: .*{message}"):
        read(store)
