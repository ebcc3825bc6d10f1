"""Tables that somebody's spreadsheet wrote: what separates their cells, and their rows."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _csv import Reader

SEPARATORS = ",;\t|"
# Far beyond any text of a test; what is longer is most likely a quote that nobody closed.
LONGEST_CELL = 16 * 1024 * 1024


def rows_of(lines: Iterable[str], delimiter: str = ",") -> Reader:
    """The rows, read as they are taken; the reader's `line_num` says how far it is.

    Raises:
        csv.Error: it is no CSV, or a cell is longer than 16 million characters; when such a row is taken.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    return csv.reader(lines, delimiter=delimiter, strict=True)


def separator_of(text: str) -> str:
    """What comes most often in the header, outside of quotes; a comma where there is none.

    Args:
        text: the table, or a beginning of it with the whole header.
    """
    header, inside = [], False
    for char in text:
        if char in "\r\n" and not inside:
            break
        inside ^= char == '"'
        if not inside:
            header.append(char)
    return max(SEPARATORS, key=header.count)
