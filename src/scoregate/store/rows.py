"""Rows of a dataset as lines of JSON, which people edit: keys in their order, every character to be seen."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from scoregate.store.lines import UNSEEN
from scoregate.store.problems import marker

_HIDDEN = re.compile(f"{UNSEEN.pattern[:-1]}\ud800-\udfff]")
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_decode = json.JSONDecoder().decode
Row = dict[str, Any]


def line_of(row: Mapping[str, Any]) -> bytes:
    """A row as a line, without its end; `row_of` gives back the same.

    Raises:
        ValueError: something in it has no form in JSON.
    """
    try:
        return seen(_encode(row))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except TypeError as error:
        raise ValueError(str(error)) from None


def row_of(line: bytes) -> Row:
    """The row of a line that `line_of` made."""
    row: Row = _decode(line.decode())
    return row


def parsed(line: bytes) -> Row | str | None:
    """The row of a line that anybody may have written: an object, nothing, or what is wrong with it."""
    if not (line := line.strip()) or (told := marker(line)):
        return told if line else None
    try:
        row = json.loads(line.decode(), object_pairs_hook=unique, parse_constant=_refused)
    except json.JSONDecodeError as error:
        return f"is no JSON: {error.msg} at character {error.pos + 1}"
    except RecursionError:
        return "is nested too deeply"
    except ValueError as error:
        return "is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
    return row if isinstance(row, dict) else f"must be an object, not {row!r:.60}"


def unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON whose keys differ.

    Raises:
        ValueError: one comes twice.
    """
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"{key!r:.60} comes twice")
        made[key] = value
    return made


def seen(text: str) -> bytes:
    """JSON with every character that a reviewer of a diff would not see, or that has no UTF-8, as an escape."""
    if text.isascii() and "\x7f" not in text:
        return text.encode()
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
