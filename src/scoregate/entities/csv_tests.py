"""Tests out of a table: read row by row, all that is wrong told with its line."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from scoregate.entities.csv_header import Header, read_header
from scoregate.entities.csv_rows import RowReader
from scoregate.entities.test import Test
from scoregate.errors import InvalidTests
from scoregate.store.separators import separator_of

_SAMPLE = 64 * 1024
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# A line or a number, and a test; instead of it what is wrong there, or nothing.
Found = tuple[int, Test | str | None]
Tell = Callable[[str], object]


def header_of(path: Path) -> Header:
    """The header of a table.

    Raises:
        InvalidTests: it cannot be one. OSError: the file cannot be read.
    """
    with opened(path) as file:
        delimiter = separator_of(file.read(_SAMPLE))
        file.seek(0)
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            return read_header(next(rows, []), path, delimiter)
        except csv.Error as error:
            raise InvalidTests(f"{path}:1: is no CSV: {error}") from None


def csv_tests(header: Header) -> Iterator[Found]:
    """The tests of a table as they are taken, each with the line on which its row begins; instead of a test, what is
    wrong with the row, or None where it is empty.

    Raises:
        InvalidTests: the file is not UTF-8. OSError: it cannot be read.
    """
    csv.field_size_limit(sys.maxsize)
    read = RowReader(header).read
    with opened(header.path) as file:
        rows = csv.reader(file, delimiter=header.delimiter, strict=True)
        next(rows, None)
        line = rows.line_num + 1
        try:
            for cells in rows:
                yield line, read(cells, line)
                line = rows.line_num + 1
        except csv.Error as error:
            yield line, f"the row that begins here is no CSV: {error}"


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """The text of a file, whose line ends stay.

    Raises:
        InvalidTests: it is not UTF-8. OSError: it cannot be read.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            yield file
        except UnicodeDecodeError:
            raise _not_utf8(path) from None


def _not_utf8(path: Path) -> InvalidTests:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1 and line.startswith(_UTF_16):
                return InvalidTests(f"{path} is UTF-16, not UTF-8", advice="Save it as CSV UTF-8.")
            try:
                line.decode()
            except UnicodeDecodeError as error:
                told = f"{path}:{number}: is not UTF-8: byte {error.start + 1} of the line is {line[error.start]:#04x}"
                return InvalidTests(told, advice="Save it as UTF-8.")
    return InvalidTests(f"{path} is not UTF-8", advice="Save it as UTF-8.")
