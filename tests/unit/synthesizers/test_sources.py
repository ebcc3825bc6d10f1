"""Sources are read and split at boundaries of text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.errors import SourceError
from scoregate.synthesizers import Source
from scoregate.synthesizers.sources import read_source, split_sources

READ = {
    "a.txt": ("\ufeffWe open at nine.", "We open at nine."),
    "a.md": ("# Hours\n\nAt nine.", "# Hours\n\nAt nine."),
    "a.CSV": ('day,hours\nMonday,"9\nto 5"\nSunday,\n,,more\n', "day: Monday\nhours: 9\nto 5\n\nday: Sunday\n\nmore"),
    "a.json": ('[{"day": "Montag ä"}, "closed"]', '{\n "day": "Montag ä"\n}\n\nclosed'),
    "a.jsonl": ('{"day": 1}\n\n{"day": 2}\n', '{\n "day": 1\n}\n\n{\n "day": 2\n}'),
}


@pytest.mark.parametrize("name", READ)
def test_files_are_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(READ[name][0], encoding="utf-8")
    assert read_source(path) == Source(str(path), READ[name][1])
    assert read_source(str(path)).text == READ[name][1]


WRONG = {
    "none.txt": (None, "cannot be read: No such file"),
    "a.pdf": (b"%PDF", "are not read"),
    "a": (b"x", "files that end in 'nothing' are not read"),
    "latin.txt": (b"caf\xe9", "is not UTF-8"),
    "a.json": (b"{", "is not JSON"),
    "a.csv": (b'a,b\n"x', "is not CSV"),
    "empty.md": (b" \n", "has no text"),
}


@pytest.mark.parametrize("name", WRONG)
def test_unreadable_files_fail(name: str, tmp_path: Path) -> None:
    data, message = WRONG[name]
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(SourceError, match=message) as exc_info:
        read_source(tmp_path / name)
    assert isinstance(exc_info.value, ValueError)
    assert name in str(exc_info.value)


def test_a_pdf_has_advice(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="pdftotext"):
        read_source(tmp_path / "a.pdf")


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(11 * 1024 * 1024)
    with pytest.raises(SourceError, match="11,534,336 bytes"):
        read_source(tmp_path / "large.txt")


def test_texts_are_cut_between_paragraphs_then_lines_sentences_and_words() -> None:
    text = "one one one.\n\ntwo two two. three three\nfour four four"
    assert [chunk.text for chunk in split_sources([Source("a", text)], 20)] == [
        "one one one.",
        "two two two.",
        "three three",
        "four four four",
    ]
    assert [(chunk.source, chunk.number) for chunk in split_sources([Source("a", "x"), Source("b", "y")], 9)] == [
        ("a", 1),
        ("b", 1),
    ]


@given(text=st.text(st.sampled_from("ab. \n"), max_size=300), size=st.integers(1, 50))
def test_nothing_is_lost_and_no_part_is_longer(text: str, size: int) -> None:
    parts = [chunk.text for chunk in split_sources([Source("a", text)], size)]
    assert all(1 <= len(part) <= size for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
