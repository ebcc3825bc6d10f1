"""Tests out of a table: read row by row, all that is wrong told with its line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

from scoregate.entities.csv_header import Header, read_header
from scoregate.entities.csv_rows import RowReader
from scoregate.entities.test import Test
from scoregate.entities.text_files import opened
from scoregate.errors import InvalidTests
from scoregate.store.separators import rows_of, separator_of

_SAMPLE = 64 * 1024
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
        rows = rows_of(file, delimiter)
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
    read = RowReader(header).read
    with opened(header.path) as file:
        rows = rows_of(file, header.delimiter)
        next(rows, None)
        line = rows.line_num + 1
        try:
            for cells in rows:
                yield line, read(cells, line)
                line = rows.line_num + 1
        except csv.Error as error:
            yield line, f"the row that begins here is no CSV: {error}"
