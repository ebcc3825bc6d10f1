"""Tests out of JSON and JSON lines: with the fields of tests, or with the columns of tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scoregate.entities.csv_columns import COLUMNS, CONVERSATION, OTHER_NAMES, PROMPT
from scoregate.entities.csv_tests import Found, Tell
from scoregate.entities.test import Test
from scoregate.entities.text_files import opened
from scoregate.enums import TestType
from scoregate.errors import InvalidTests
from scoregate.store.problems import said
from scoregate.store.rows import parsed, unique

_BOM = b"\xef\xbb\xbf"
FIELDS = frozenset({*COLUMNS, *OTHER_NAMES, "prompt", "test_configuration", "test_metadata"})


def json_tests(path: Path, tell: Tell) -> Iterator[Found]:
    """The tests of a JSON file, a list of objects, each with its number; else as `csv_tests`.

    Args:
        tell: is told of fields that tests do not have.

    Raises:
        InvalidTests: it is no list. OSError: it cannot be read.
    """
    with opened(path) as file:
        text = file.read()
    try:
        found = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise InvalidTests(f"{path}:{error.lineno}:{error.colno}: is no JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidTests(f"{path}: {error}") from None
    if not isinstance(found, list):
        raise InvalidTests(f"JSON file must contain an array of test objects: {path} has {type(found).__name__}")
    teller = _Teller(path, tell)
    for number, item in enumerate(found, 1):
        row = item if isinstance(item, dict) else f"must be an object, not {item!r:.60}"
        yield number, _test(row, teller, source=str(path), line=None)


def json_lines_tests(path: Path, tell: Tell) -> Iterator[Found]:
    """The tests of a file with an object a line, as they are taken; else as `json_tests`.

    Raises:
        OSError: it cannot be read.
    """
    teller = _Teller(path, tell)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            row = parsed(line.removeprefix(_BOM) if number == 1 else line)
            yield number, _test(row, teller, source=str(path), line=number)


class _Teller:
    """Tells of each field that tests do not have, once."""

    def __init__(self, path: Path, tell: Tell) -> None:
        self._path, self._tell, self._told = path, tell, set(FIELDS)

    def see(self, row: dict[str, Any]) -> None:
        for name in row.keys() - self._told:
            self._tell(f"{self._path}: tests have no field {name!r:.60}; it is left out")
            self._told.add(name)


def _test(row: dict[str, Any] | str | None, teller: _Teller, *, source: str, line: int | None) -> Test | str | None:
    """The test of an object; what is wrong with it; None for an empty one."""
    if isinstance(row, str):
        return row
    if not row:
        return None
    teller.see(row)
    try:
        test = Test.model_validate(_nested({name: value for name, value in row.items() if name in FIELDS}))
    except ValidationError as error:
        return said(error)
    if problems := list(_missing(test)):
        return "; ".join(problems)
    test.test_type, test.source, test.source_line = test.turns, source, line
    return test


def _nested(fields: dict[str, Any]) -> dict[str, Any]:
    """With a prompt and a configuration out of what stood beside them; an empty type is none."""
    prompt = {field: fields.pop(column) for column, field in PROMPT.items() if column in fields}
    if prompt.get("content") and fields.get("prompt") is None:
        fields["prompt"] = {name: value for name, value in prompt.items() if value is not None}
    conversation = {name: fields[name] for name in CONVERSATION if fields.get(name) not in (None, "")}
    if conversation.get("goal") and fields.get("test_configuration") is None:
        fields["test_configuration"] = conversation
    given = {name: value for name, value in fields.items() if name not in CONVERSATION}
    return given | ({} if given.get("test_type") else {"test_type": None})


def _missing(test: Test) -> Iterator[str]:
    for name in test.push_required:
        if not getattr(test, name):
            yield f"{name}: is missing"
    if test.turns is TestType.MULTI_TURN and test.test_configuration is None:
        yield "goal: is missing, and this test is a conversation"
    if test.turns is TestType.SINGLE_TURN and test.prompt is None:
        yield "prompt: is missing"
