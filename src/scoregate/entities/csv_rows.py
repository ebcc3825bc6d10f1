"""One row of a table of tests: what its cells mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from sys import intern
from typing import Any

from pydantic import ValidationError

from scoregate.entities.csv_columns import CONVERSATION, PROMPT
from scoregate.entities.csv_header import Header
from scoregate.entities.test import Test
from scoregate.enums import TestType
from scoregate.store.problems import details
from scoregate.store.rows import parsed
from scoregate.store.separators import unguarded

_LABELS = ("category", "topic", "behavior")
_USUAL = (*_LABELS, "prompt_content", "expected_response", "test_type", "id")
_SINGLE = ("", TestType.SINGLE_TURN.value)
_NUMBERS = ("min_turns", "max_turns")
_TYPES = {kind.value.casefold(): kind for kind in TestType}
_BEHIND = {"prompt.content": "prompt_content", "prompt.id": "prompt_id"}

_validated = Test.__pydantic_validator__.validate_python


class RowReader:
    """Makes tests of the rows below one header."""

    def __init__(self, header: Header) -> None:
        self._source = str(header.path)
        self._columns = header.columns
        self._width = len(header.columns)
        self._usual = _getter(header.columns, _USUAL)
        rare = [name for name in header.columns if name and name not in _USUAL]
        self._rare = _getter(header.columns, rare) if rare else None

    def read(self, cells: list[str], line: int) -> Test | str | None:
        """The test of a row that begins on this line; what is wrong with it; None for an empty row."""
        if len(cells) != self._width:
            return f"has {len(cells)} cells, the header {self._width}" if any(map(str.strip, cells)) else None
        if ",'" in f",{','.join(cells)}":  # faster than to look at each
            cells = list(map(unguarded, cells))
        cells.append("")
        problems: list[str] = []
        if (fields := self._question(cells, line)) is None:
            row = dict(zip(self._columns, cells, strict=False))
            row.pop(None, None)
            fields, problems = _whole(row)
            fields |= {"source": self._source, "source_line": line}
        if not problems:
            try:
                return _validated(fields)  # type: ignore[no-any-return]
            except ValidationError as error:
                problems = [_told(where, what) for where, what in details(error)]
        return "; ".join(problems) if any(map(str.strip, cells)) else None

    def _question(self, cells: list[str], line: int) -> dict[str, Any] | None:
        """The fields of a row that has nothing but what nearly all have; None for any other."""
        category, topic, behavior, content, expected, kind, own = self._usual(cells)
        if self._rare is not None and any(self._rare(cells)):
            return None
        if kind not in _SINGLE or not content or not category.strip() or not behavior.strip():
            return None
        fields = {
            "category": intern(category),
            "topic": intern(topic) if topic else None,
            "behavior": intern(behavior),
            "prompt": {"content": content, "expected_response": expected} if expected else {"content": content},
            "test_type": TestType.SINGLE_TURN,
            "source": self._source,
            "source_line": line,
        }
        return {"id": own, **fields} if own else fields


def _getter(columns: Sequence[str | None], names: Sequence[str]) -> Callable[[list[str]], Sequence[str]]:
    """What takes the cells of these columns out of a row and the empty cell behind it, which is for missing ones."""
    places = [columns.index(name) if name in columns else len(columns) for name in names]
    return itemgetter(*places, *[len(columns)] * (2 - len(places)))


def _whole(row: Mapping[str | None, str]) -> tuple[dict[str, Any], list[str]]:
    """The fields of any row, and what is wrong there."""
    fields: dict[str, Any] = {name: intern(text) for name in _LABELS if (text := row[name])}
    problems = list(_take_rare(fields, {name: text for name, text in row.items() if name and text}))
    _take_prompt(fields, row)
    fields["test_type"] = kind = fields.get("test_type") or _type_of(fields)
    return fields, [*problems, *_missing(fields, row, kind)]


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
        found = parsed(row["metadata"].encode())
        if isinstance(found, str):
            yield f"column metadata: {found}"
        fields["metadata"] = found or {}
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
