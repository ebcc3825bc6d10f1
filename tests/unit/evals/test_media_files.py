"""Rows of data files name images and audio of the repository, and no other file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.media import BEEP, GREEN, RED

from scoregate import Media
from scoregate.errors import InvalidSuite
from scoregate.evals.data import read_data
from scoregate.evals.prompts import render_template
from scoregate.evals.rows import Row


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data file of a repository next to a secret."""
    (tmp_path / "secret.png").write_bytes(GREEN)
    evals = tmp_path / "repository" / "evals"
    evals.mkdir(parents=True)
    (evals.parent / ".git").mkdir()
    (evals / "cat.png").write_bytes(RED)
    (evals.parent / "beep.wav").write_bytes(BEEP)
    return evals / "data.jsonl"


def read(path: Path, *rows: Any) -> tuple[list[Row], list[str]]:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    problems: list[str] = []
    return read_data(path, None, problems), problems


def test_a_row_names_files_relative_to_the_data_file(data: Path) -> None:
    ask = [{"type": "text", "text": "What is it?"}, {"media": "cat.png"}, {"media": "../beep.wav"}]
    rows, problems = read(data, {"input": {"media": "cat.png"}}, {"input": {"ask": ask}, "expected": "a cat"})
    assert problems == []
    assert rows[0].input == Media.from_bytes(RED)
    assert rows[0].input.name == "cat.png"
    assert rows[1].input["ask"][1:] == [Media.from_bytes(RED), Media.from_bytes(BEEP)]


def test_files_outside_the_repository_are_never_read(data: Path) -> None:
    (data.parent / "link.png").symlink_to(data.parents[2] / "secret.png")
    (data.parent / "loop.png").symlink_to(data.parent / "loop.png")
    names = ("../../secret.png", str(data.parents[2] / "secret.png"), "link.png", "/dev/zero", "loop.png", "a\0b")
    rows, problems = read(data, *({"id": name, "input": {"media": name}} for name in names))
    assert rows == []
    assert len(problems) == len(names)
    for problem in problems[:4]:
        assert "outside of the repository" in problem


def test_a_wrong_file_is_a_problem_with_the_line(data: Path) -> None:
    (data.parent / "page.png").write_text("<html>")
    rows, problems = read(data, {"input": {"media": "missing.png"}}, {"input": {"media": "page.png"}}, {"input": "x"})
    assert len(rows) == 1
    assert "data.jsonl:1: " in problems[0]
    assert "can't be read: No such file" in problems[0]
    assert "'page.png' is not an image or audio of a known type" in problems[1]


def test_other_fields_named_media_stay_data(data: Path) -> None:
    values: list[Any] = [{"media": "tv", "year": 1}, {"media": ["tv"]}, "media", {"medium": "tv"}]
    rows, problems = read(data, *({"id": str(index), "input": value} for index, value in enumerate(values)))
    assert (problems, [row.input for row in rows]) == ([], values)


def test_a_template_of_text_refuses_an_image() -> None:
    for value in (Media.from_bytes(RED), [Media.from_bytes(RED)]):
        with pytest.raises(InvalidSuite, match="is not text: give the task a function"):
            render_template("What is {{ picture }}?", {"picture": value})
