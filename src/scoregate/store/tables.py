"""Tables and lists of objects in files that people edit: CSV, TSV, JSON and JSON lines."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from scoregate.store.json_lines import Row, parse_row, reject_duplicate_keys

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
# Far above any text of a test. A longer cell is most likely an unclosed quote.
LONGEST_CELL = 16 * 1024 * 1024
_SAMPLE = 64 * 1024
_UTF8_BOM, _UTF16_BOMS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
# A spreadsheet runs such text as a formula. An apostrophe in front prevents that; reading removes it.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


class TableError(Exception):
    """A file is not the table that it should be.

    Args:
        problem: what is wrong, such as "is not CSV: …".
        line: where it is, counted from 1; None for the whole file.
        column: the character of the line, if known.
        last_line: how far the file was read, if a row has several lines.
        advice: how to correct it.
    """

    def __init__(
        self, problem: str, *, line: int | None = None, column: int | None = None, last_line: int = 0, advice: str = ""
    ) -> None:
        super().__init__(problem)
        self.problem, self.line, self.last_line, self.advice = problem, line, last_line or line, advice
        self._place = "".join(f":{number}" for number in (line, column) if number is not None)

    def message(self, path: Path | str) -> str:
        """The problem with its place in a file."""
        return f"{path}{self._place}: {self.problem}"


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a text file in UTF-8, with or without a byte order mark. Line ends are not translated.

    Raises:
        TableError: the file is not UTF-8.
        OSError: it cannot be read.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            yield file
        except UnicodeDecodeError:
            raise _encoding_error(path) from None


def _encoding_error(path: Path) -> TableError:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1 and line.startswith(_UTF16_BOMS):
                return TableError("is UTF-16, not UTF-8", advice="Save it as CSV UTF-8.")
            try:
                line.decode()
            except UnicodeDecodeError as error:
                byte = f"byte {error.start + 1} of the line is {line[error.start]:#04x}"
                return TableError(f"is not UTF-8: {byte}", line=number, advice="Save it as UTF-8.")
    return TableError("is not UTF-8", advice="Save it as UTF-8.")


class TableReader:
    """The header and the rows of a table. Iterating gives each row with the line on which it begins.

    Args:
        file: the text of the table, with its line ends.

    Raises:
        TableError: the table is not CSV, or a cell is longer than 16 million characters; for a row, when it is read.
    """

    def __init__(self, file: TextIO) -> None:
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))  # for the whole process, so it is never lowered
        # The most frequent delimiter in the header, outside of quotes; a comma if there is none.
        header, is_quoted = [], False
        for char in file.read(_SAMPLE):
            if char in "\r\n" and not is_quoted:
                break
            is_quoted ^= char == '"'
            if not is_quoted:
                header.append(char)
        self.delimiter = max(DELIMITERS, key=header.count)
        file.seek(0)
        self._rows = csv.reader(file, delimiter=self.delimiter, strict=True)
        self._line = 1
        try:
            self.header = next(self._rows, [])
        except csv.Error as error:
            raise self._error(error) from None

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        rows = self._rows
        self._line = rows.line_num + 1
        try:
            for cells in rows:
                yield self._line, cells
                self._line = rows.line_num + 1
        except csv.Error as error:
            raise self._error(error) from None

    def _error(self, error: csv.Error) -> TableError:
        return TableError(f"is not CSV: {error}", line=self._line, last_line=self._rows.line_num)


def read_json(text: str) -> Any:
    """The value of a JSON text whose objects have unique keys.

    Raises:
        TableError: it is no such JSON.
    """
    try:
        return json.loads(text, object_pairs_hook=reject_duplicate_keys)
    except json.JSONDecodeError as error:
        raise TableError(f"is not JSON: {error.msg}", line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise TableError("is nested too deeply") from None
    except ValueError as error:
        raise TableError(str(error)) from None


def read_json_lines(file: BinaryIO) -> Iterator[tuple[int, Row | str | None]]:
    """Each line with its number: an object, what is wrong with the line, or None for an empty line."""
    for number, line in enumerate(file, 1):
        yield number, parse_row(line.removeprefix(_UTF8_BOM) if number == 1 else line)


def to_cell(value: object) -> str:
    """The cell for a value: text as it is, nothing for None, JSON for anything else."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def guard_cell(cell: str) -> str:
    """The cell in a form that a spreadsheet does not run as a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguard_cell(cell: str) -> str:
    """The cell that `guard_cell` was called with."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
