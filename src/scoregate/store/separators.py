"""Tables that spreadsheets write and read: what separates their cells, their rows, and cells that would be run."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _csv import Reader

SEPARATORS = ",;\t|"
# A spreadsheet would run these; an apostrophe in front makes them text. It is taken off again when they come back.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
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


def guarded(cell: str) -> str:
    """The cell as a spreadsheet shows it, and does not run it."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """What `guarded` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
