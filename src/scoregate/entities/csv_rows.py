"""One row of a table of tests: what its cells mean."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from sys import intern
from typing import Any

from pydantic import ValidationError

from scoregate.entities.csv_columns import CONVERSATION, PROMPT
from scoregate.entities.csv_header import Header
from scoregate.entities.test import Test
from scoregate.enums import TestType
from scoregate.store.problems import details
from scoregate.store.rows import unique

_LABELS = ("category", "topic", "behavior")
_NUMBERS = ("min_turns", "max_turns")
_TYPES = {kind.value.casefold(): kind for kind in TestType}
_BEHIND = {"prompt.content": "prompt_content", "prompt.id": "prompt_id"}


class RowReader:
    """Makes tests of the rows below one header."""

    def __init__(self, header: Header) -> None:
        self._source = str(header.path)
        self._columns = header.columns
        self._width = len(header.columns)
        self._rare = frozenset(filter(None, header.columns)) - {*_LABELS, "prompt_content", "expected_response"}

    def read(self, cells: Sequence[str], line: int) -> Test | str | None:
        """The test of a row that begins on this line; what is wrong with it; None for an empty row."""
        if len(cells) != self._width:
            return f"has {len(cells)} cells, the header {self._width}" if any(map(str.strip, cells)) else None
        row = dict(zip(self._columns, cells, strict=True))
        row.pop(None, None)
        fields: dict[str, Any] = {name: intern(text) for name in _LABELS if (text := row[name])}
        problems: list[str] = []
        if rare := [name for name in self._rare if row[name]]:
            problems += _take_rare(fields, {name: row[name] for name in rare})
        _take_prompt(fields, row)
        fields["test_type"] = kind = fields.get("test_type") or _type_of(fields)
        problems += _missing(fields, row, kind)
        fields["source"], fields["source_line"] = self._source, line
        if not problems:
            try:
                return Test.model_validate(fields)
            except ValidationError as error:
                problems = [_told(where, what) for where, what in details(error)]
        return "; ".join(problems) if any(map(str.strip, cells)) else None


def _type_of(fields: Mapping[str, Any]) -> TestType:
    return TestType.MULTI_TURN if "test_configuration" in fields else TestType.SINGLE_TURN


def _take_prompt(fields: dict[str, Any], row: Mapping[str | None, str]) -> None:
    if content := row.get("prompt_content"):
        given = {field: row[column] for column, field in PROMPT.items() if row.get(column)}
        fields["prompt"] = {**given, "content": content}


def _take_rare(fields: dict[str, Any], row: Mapping[str, str]) -> Iterator[str]:
    """Take in what most rows do not have, and tell what is wrong there."""
    if "id" in row:
        fields["id"] = row["id"]
    if "test_type" in row and (kind := _TYPES.get(row["test_type"].strip().casefold().replace("_", "-"))) is None:
        yield f"column test_type: must be Single-Turn, Multi-Turn or empty, not {row['test_type']!r:.60}"
    elif "test_type" in row:
        fields["test_type"] = kind
    if "metadata" in row:
        try:
            fields["metadata"] = json.loads(row["metadata"], object_pairs_hook=unique)
        except (ValueError, RecursionError) as error:
            yield f"column metadata: must be a JSON object: {error}"
    if configuration := {name: row[name] for name in CONVERSATION if name in row}:
        for name in _NUMBERS:
            if name in configuration and not configuration[name].strip().isdecimal():
                yield f"column {name}: must be a whole number, not {configuration.pop(name)!r:.60}"
        fields["test_configuration"] = configuration


def _missing(fields: Mapping[str, Any], row: Mapping[str | None, str], kind: TestType) -> Iterator[str]:
    """What a test of this kind needs and does not have."""
    for name in ("category", "behavior"):
        if not row[name].strip():
            yield f"column {name}: is empty"
    configuration = fields.get("test_configuration")
    if (kind is TestType.MULTI_TURN or configuration) and not (configuration and configuration.get("goal")):
        yield "column goal: is empty, and this test is a conversation"
    if "prompt" not in fields and (kind is TestType.SINGLE_TURN or row.get("expected_response")):
        yield "column prompt_content: is empty"


def _told(where: str, what: str) -> str:
    column = _BEHIND.get(where, where.rpartition(".")[2])
    return f"column {column}: {what}" if column and column != "test_configuration" else what
