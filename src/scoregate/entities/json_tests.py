"""Tests from JSON and JSON lines, with the fields of tests or the columns of tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scoregate.entities.csv_tests import (
    COLUMN_ALIASES,
    COLUMNS,
    CONVERSATION_COLUMNS,
    PROMPT_COLUMNS,
    Notify,
    NumberedTest,
)
from scoregate.entities.test import REFUSED_FIELDS, Test
from scoregate.enums import TestType
from scoregate.errors import InvalidTests
from scoregate.store.errors import error_message
from scoregate.store.tables import open_text, read_json, read_json_lines

TEST_FIELDS = frozenset({*COLUMNS, *COLUMN_ALIASES, *REFUSED_FIELDS, "prompt", "test_configuration", "test_metadata"})


def read_json_tests(path: Path, notify: Notify) -> Iterator[NumberedTest]:
    """The tests of a JSON file with a list of objects, each with its number.

    Args:
        path: the file.
        notify: called with notices about unknown fields.

    Raises:
        InvalidTests: the file contains no list.
        TableError: the file is not JSON.
        OSError: the file cannot be read.
    """
    with open_text(path) as file:
        content = read_json(file.read())
    if not isinstance(content, list):
        raise InvalidTests(f"JSON file must contain an array of test objects: {path} has {type(content).__name__}")
    unknown = _UnknownFields(path, notify)
    for number, item in enumerate(content, 1):
        row = item if isinstance(item, dict) else f"must be an object, not {item!r:.60}"
        yield number, _parse_test(row, unknown, source=str(path), line=None)


def read_json_lines_tests(path: Path, notify: Notify) -> Iterator[NumberedTest]:
    """The tests of a JSON lines file, streamed; otherwise as `read_json_tests`."""
    unknown = _UnknownFields(path, notify)
    with path.open("rb") as file:
        for number, row in read_json_lines(file):
            yield number, _parse_test(row, unknown, source=str(path), line=number)


class _UnknownFields:
    """Reports each unknown field once."""

    def __init__(self, path: Path, notify: Notify) -> None:
        self._path, self._notify, self._known = path, notify, set(TEST_FIELDS)

    def report(self, row: dict[str, Any]) -> None:
        for name in row.keys() - self._known:
            self._notify(f"{self._path}: tests have no field {name!r:.60}; it is left out")
            self._known.add(name)


def _parse_test(
    row: dict[str, Any] | str | None, unknown: _UnknownFields, *, source: str, line: int | None
) -> Test | str | None:
    """The test of an object, or its problems, or None for an empty object."""
    if isinstance(row, str):
        return row
    if not row:
        return None
    unknown.report(row)
    try:
        test = Test.model_validate(_nest_fields({name: value for name, value in row.items() if name in TEST_FIELDS}))
    except ValidationError as error:
        return error_message(error)
    problems = [f"{name}: is missing" for name in test.push_required if not getattr(test, name)]
    if test.turns is TestType.MULTI_TURN and test.test_configuration is None:
        problems.append("goal: is missing, and this test is a conversation")
    if test.turns is TestType.SINGLE_TURN and test.prompt is None:
        problems.append("prompt: is missing")
    if problems:
        return "; ".join(problems)
    test.test_type, test.source, test.source_line = test.turns, source, line
    return test


def _nest_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Move the columns of the prompt and the configuration into objects. An empty type counts as None."""
    prompt = {field: fields.pop(column) for column, field in PROMPT_COLUMNS.items() if column in fields}
    if prompt.get("content") and fields.get("prompt") is None:
        fields["prompt"] = {name: value for name, value in prompt.items() if value is not None}
    conversation = {name: fields[name] for name in CONVERSATION_COLUMNS if fields.get(name) not in (None, "")}
    if conversation.get("goal") and fields.get("test_configuration") is None:
        fields["test_configuration"] = conversation
    given = {name: value for name, value in fields.items() if name not in CONVERSATION_COLUMNS}
    return given | ({} if given.get("test_type") else {"test_type": None})
