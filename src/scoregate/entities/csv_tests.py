"""Tests from a table, row by row. Problems are reported with their line."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from operator import itemgetter
from pathlib import Path
from sys import intern
from typing import Any

from pydantic import ValidationError

from scoregate.entities.test import Test
from scoregate.enums import TestType
from scoregate.errors import InvalidTests
from scoregate.kernel.types.text import describe_width
from scoregate.store.errors import error_details
from scoregate.store.json_lines import parse_row
from scoregate.store.tables import DELIMITERS, TableError, TableReader, open_text, unguard_cell

REQUIRED_COLUMNS = ("prompt_content", "category", "topic", "behavior")
PROMPT_COLUMNS = {
    "prompt_content": "content",
    "expected_response": "expected_response",
    "language_code": "language_code",
    "prompt_id": "id",
}
CONVERSATION_COLUMNS = ("goal", "instructions", "restrictions", "scenario", "min_turns", "max_turns")
COLUMNS = ("category", "topic", "behavior", "test_type", *PROMPT_COLUMNS, *CONVERSATION_COLUMNS, "metadata", "id")
COLUMN_ALIASES = {"requirement": "behavior"}
_KNOWN_COLUMNS = (*COLUMNS, *COLUMN_ALIASES)


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a table: the column at each position, None for unknown columns, and the unknown names."""

    path: Path
    delimiter: str
    columns: tuple[str | None, ...]
    unknown: tuple[str, ...]

    @property
    def separated(self) -> str:
        """The name of the delimiter."""
        return DELIMITERS[self.delimiter]

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices about columns that are ignored."""
        notices = []
        for name in self.unknown:
            near = get_close_matches(name, COLUMNS, 1)
            suggestion = f": did you mean {near[0]}?" if near else ""
            notices.append(f"{self.path}:1: there is no column {name!r:.60} of tests; it is left out{suggestion}")
        return tuple(notices)


def parse_header(cells: Sequence[str], path: Path, delimiter: str) -> Header:
    """Parse the first row of a table.

    Raises:
        InvalidTests: a required column is missing, or a column comes twice.
    """
    names = [_column_name(cell) for cell in cells]
    # Exports have a column under both of its names, for readers that know one of them.
    names = [name if COLUMN_ALIASES.get(name) in names else COLUMN_ALIASES.get(name, name) for name in names]
    problems = [f"column {name!r:.60} comes twice" for name in dict.fromkeys(names) if name and names.count(name) > 1]
    # A table of conversations needs no prompts.
    required = [name for name in REQUIRED_COLUMNS if name != "prompt_content" or "goal" not in names]
    problems += [f"there is no column {name}" for name in required if name not in names]
    if problems:
        raise InvalidTests(
            "\n".join(f"{path}:1: {problem}" for problem in problems[:10]),
            advice=f"The first row names the columns, which are separated by {DELIMITERS[delimiter]} in this file:"
            f" {', '.join(names):.300}."
            if any(names)
            else "The first row names the columns; there is none.",
        )
    columns = tuple(name if name in _KNOWN_COLUMNS else None for name in names)
    return Header(path, delimiter, columns, tuple(name for name in names if name and name not in _KNOWN_COLUMNS))


def _column_name(cell: str) -> str:
    name = cell.strip()
    plain = name.casefold()
    return plain if plain in _KNOWN_COLUMNS else name


_LABELS = ("category", "topic", "behavior")
_COMMON_COLUMNS = (*_LABELS, "requirement", "prompt_content", "expected_response", "test_type", "id")
_SINGLE_TURN_VALUES = ("", TestType.SINGLE_TURN.value)
_NUMBER_COLUMNS = ("min_turns", "max_turns")
_TEST_TYPES = {kind.value.casefold(): kind for kind in TestType}
_FIELD_COLUMNS = {"prompt.content": "prompt_content", "prompt.id": "prompt_id"}

_validate_test = Test.__pydantic_validator__.validate_python


class RowReader:
    """Parses the rows below a header."""

    def __init__(self, header: Header) -> None:
        self._source = str(header.path)
        self._columns = header.columns
        self._width = len(header.columns)
        self._usual = _cell_getter(header.columns, _COMMON_COLUMNS)
        rare = [name for name in header.columns if name and name not in _COMMON_COLUMNS]
        self._rare = _cell_getter(header.columns, rare) if rare else None

    def read(self, cells: list[str], line: int) -> Test | str | None:
        """The test of a row that begins on this line, or its problems, or None for an empty row."""
        if len(cells) != self._width:
            return describe_width(len(cells), self._width) if any(map(str.strip, cells)) else None
        if ",'" in f",{','.join(cells)}":  # one check of the row is faster than one of each cell
            cells = list(map(unguard_cell, cells))
        cells.append("")
        problems: list[str] = []
        if (fields := self._question(cells, line)) is None:
            row = dict(zip(self._columns, cells, strict=False))
            row.pop(None, None)
            fields, problems = _parse_row(row)
            fields |= {"source": self._source, "source_line": line}
        if not problems:
            try:
                return _validate_test(fields)  # type: ignore[no-any-return]
            except ValidationError as error:
                for where, what in error_details(error):
                    column = _FIELD_COLUMNS.get(where, where.rpartition(".")[2])
                    is_column = column and column != "test_configuration"
                    problems.append(f"column {column}: {what}" if is_column else what)
        return "; ".join(problems) if any(map(str.strip, cells)) else None

    def _question(self, cells: list[str], line: int) -> dict[str, Any] | None:
        """The fields of a row with common columns only, which is the fast path; None for any other row."""
        category, topic, behavior, requirement, content, expected, kind, own = self._usual(cells)
        if (self._rare is not None and any(self._rare(cells))) or requirement not in ("", behavior):
            return None
        if kind not in _SINGLE_TURN_VALUES or not content or not category.strip() or not behavior.strip():
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


def _cell_getter(columns: Sequence[str | None], names: Sequence[str]) -> Callable[[list[str]], Sequence[str]]:
    """A getter of the cells of these columns. A missing column gives the empty cell after the row."""
    places = [columns.index(name) if name in columns else len(columns) for name in names]
    return itemgetter(*places, *[len(columns)] * (2 - len(places)))


def _parse_row(row: Mapping[str | None, str]) -> tuple[dict[str, Any], list[str]]:
    """The fields of any row, and its problems."""
    fields: dict[str, Any] = {name: intern(text) for name in _LABELS if (text := row[name])}
    if row.get("requirement"):
        fields["requirement"] = row["requirement"]
    problems = list(_add_optional_cells(fields, {name: text for name, text in row.items() if name and text}))
    if content := row.get("prompt_content"):
        given = {field: row[column] for column, field in PROMPT_COLUMNS.items() if row.get(column)}
        fields["prompt"] = {**given, "content": content}
    default = TestType.MULTI_TURN if "test_configuration" in fields else TestType.SINGLE_TURN
    fields["test_type"] = kind = fields.get("test_type") or default
    problems += [
        f"column {name}: is empty"
        for name, cell in (("category", row["category"]), ("behavior", row["behavior"] or row.get("requirement", "")))
        if not cell.strip()
    ]
    configuration = fields.get("test_configuration")
    if (kind is TestType.MULTI_TURN or configuration) and not (configuration and configuration.get("goal")):
        problems.append("column goal: is empty, and this test is a conversation")
    if "prompt" not in fields and (kind is TestType.SINGLE_TURN or row.get("expected_response")):
        problems.append("column prompt_content: is empty")
    return fields, problems


def _add_optional_cells(fields: dict[str, Any], row: Mapping[str, str]) -> Iterator[str]:
    """Add the fields that most rows do not have, and return their problems."""
    if "id" in row:
        fields["id"] = row["id"]
    if "test_type" in row and (kind := _TEST_TYPES.get(row["test_type"].strip().casefold().replace("_", "-"))) is None:
        yield f"column test_type: must be Single-Turn, Multi-Turn or empty, not {row['test_type']!r:.60}"
    elif "test_type" in row:
        fields["test_type"] = kind
    if "metadata" in row:
        metadata = parse_row(row["metadata"].encode())
        if isinstance(metadata, str):
            yield f"column metadata: {metadata}"
        fields["metadata"] = metadata or {}
    if configuration := {name: row[name] for name in CONVERSATION_COLUMNS if name in row}:
        for name in _NUMBER_COLUMNS:
            if name in configuration and not configuration[name].strip().isdecimal():
                yield f"column {name}: must be a whole number, not {configuration.pop(name)!r:.60}"
        fields["test_configuration"] = configuration


# The line or number of a test, and the test, or its problems, or None for an empty row.
NumberedTest = tuple[int, Test | str | None]
Notify = Callable[[str], object]


def read_header(path: Path) -> Header:
    """The header of a table of tests.

    Raises:
        InvalidTests: it has no valid header.
        TableError: the file is not CSV.
        OSError: the file cannot be read.
    """
    with open_text(path) as file:
        table = TableReader(file)
        return parse_header(table.header, path, table.delimiter)


def read_csv_tests(path: Path, notify: Notify) -> Iterator[NumberedTest]:
    """The tests of a table, one by one, each with the line on which its row begins.

    Args:
        path: the file.
        notify: called with notices, such as columns that are ignored.

    Raises:
        InvalidTests: the table has no valid header.
        TableError: the file is not CSV.
        OSError: the file cannot be read.
    """
    with open_text(path) as file:
        table = TableReader(file)
        header = parse_header(table.header, path, table.delimiter)
        if header.delimiter != ",":
            logging.getLogger("scoregate").info("%s: its cells are separated by %s", path, header.separated)
        for notice in header.notices:
            notify(notice)
        read = RowReader(header).read
        try:
            for line, cells in table:
                yield line, read(cells, line)
        except TableError as error:
            yield error.line or 1, f"the row that begins here {error.problem}"
