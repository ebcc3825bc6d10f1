"""What separates the cells of a table that somebody's spreadsheet wrote."""

from __future__ import annotations

SEPARATORS = ",;\t|"


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
