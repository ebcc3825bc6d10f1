"""The lines of a TOML file where its keys are set, which `tomllib` doesn't return."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

_MAX_LINES = 20_000
_LONGEST_STATEMENT = 300  # lines; each further line of a statement parses all of it again


def find_line(content: str, keys: tuple[str, ...]) -> int | None:
    """The line of a valid TOML file, from 1, where a key is set, or the table around it; None if neither is found.

    Args:
        content: the file.
        keys: the path of the key, with indexes for elements of lists.
    """
    lines = _find_lines(content)
    return next((lines[keys[:length]] for length in range(len(keys), 0, -1) if keys[:length] in lines), None)


@lru_cache(maxsize=2)
def _find_lines(content: str) -> dict[tuple[str, ...], int]:
    lines: dict[tuple[str, ...], int] = {}
    for number, path in _find_paths(content):
        for length in range(1, len(path) + 1):
            lines.setdefault(path[:length], number)
    return lines


def _find_paths(content: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every table and key with its line: each statement is parsed alone."""
    table: tuple[str, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    statement, start = "", 1
    for number, line in enumerate(content.splitlines(keepends=True)[:_MAX_LINES], 1):
        start = start if statement else number
        statement += line
        try:
            values = tomllib.loads(statement)
        except ValueError:  # it goes on in the next line
            if number - start > _LONGEST_STATEMENT:
                return
            continue
        is_header = statement.lstrip().startswith("[")
        paths = list(_list_paths(values))
        statement = ""
        if is_header and paths:
            table = paths[-1]
            if table[-1] == "0":  # an element of a list of tables
                counts[table] = counts.get(table, -1) + 1
                table = (*table[:-1], str(counts[table]))
            yield start, table
            continue
        yield from ((start, (*table, *path)) for path in paths)


def _list_paths(value: Any) -> Iterator[tuple[str, ...]]:
    """The paths of all values that are no table with values, and of all elements of lists."""
    items = value.items() if isinstance(value, Mapping) else ((str(index), each) for index, each in enumerate(value))
    for key, each in items:
        is_nested = isinstance(each, Mapping | list)
        inner = [(key, *path) for path in _list_paths(each)] if is_nested else []
        yield from inner or [(key,)]
