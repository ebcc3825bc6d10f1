"""On which line of a TOML text something stands: for messages, and for whoever wants to change it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_NAME = r"""(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)"""
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_TABLE = re.compile(rf"\s*\[(\[?)\s*({_NAMES})\s*\]")
_KEY = re.compile(rf"\s*({_NAMES})\s*=")
_LONG = re.compile(r'"""|\'\'\'')


def line_of(text: str, keys: Sequence[str]) -> int:
    """The line, from 1, on which the value behind these keys begins, else what holds it; 1 where nothing does.

    Args:
        keys: names of tables and fields, outermost first; those of a list are numbers, as in `metrics`, `0`, `kind`.
    """
    best, found = 0, 1
    for line, path in _places(text):
        common = _common(path, keys)
        if common > best:
            best, found = common, line
    return found


def _common(path: Sequence[str], keys: Sequence[str]) -> int:
    """How many keys a place shares with those that are sought; none where it goes another way."""
    shared = min(len(path), len(keys))
    return len(path) if list(path[:shared]) == list(keys[:shared]) and len(path) <= len(keys) else 0


def _places(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every table and key, with its line; what stands in a text over several lines is none."""
    table: tuple[str, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    inside = ""
    for number, line in enumerate(text.split("\n"), 1):
        outside, inside = not inside, _after(line, inside)
        if not outside:
            continue
        if header := _TABLE.match(line):
            table = _names(header[2])
            if header[1]:
                counts[table] = at = counts.get(table, -1) + 1
                table = (*table, str(at))
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, *_names(key[1]))


def _after(line: str, inside: str) -> str:
    """The quotes that are open after a line, which are those in `inside` before it."""
    for quotes in _LONG.findall(line):
        inside = "" if inside == quotes else inside or quotes
    return inside


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, text))
