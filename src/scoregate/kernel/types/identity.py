"""The identity of cases: names of limited length, digests, and names that are only positions in a list."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from scoregate.kernel.types.json_io import dump, sort_sets

_LONGEST = 1_000
_WORD = (
    r"(?:case|row|item|sample|example|test|question|query|entry|record|line|index|golden|input|datum|data|conversation)"
)
# `row 3`, `test_case_3`, `Question #3`: a word for a part of a list, and a number.
_AT_END = re.compile(rf"((?:.*[\W_])?{_WORD}s?[\s_#.:-]*)(\d{{1,9}})", re.IGNORECASE | re.DOTALL)
# pytest's ids: `[3]`, `[case3]`, `[case3-0]`.
_IN_BRACKETS = re.compile(r"(.*\[)([^\[\]]+)\]", re.DOTALL)
_PART = re.compile(rf"((?:\w*_)?{_WORD}s?_?)(\d{{1,9}})", re.IGNORECASE)
# What frameworks call a case without a name.
_BARE = re.compile(rf"(?:(?:conversational_)?test_)?{_WORD}s?", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,9}")


def split_position(name: str) -> tuple[str, tuple[int, ...]] | None:
    """Split a name into the rest and its position; None if it is no position. The rest of `Case 3` is empty."""
    if len(name) > _LONGEST:
        return None
    if (brackets := _IN_BRACKETS.fullmatch(name)) is not None:
        return _split_parts(brackets[1], brackets[2].split("-"))
    match = _AT_END.fullmatch(name)
    if match is None:
        return None
    rest = match[1].rstrip(" _#.:-")
    return "" if _BARE.fullmatch(rest) else rest, (int(match[2]),)


def _split_parts(before: str, parts: list[str]) -> tuple[str, tuple[int, ...]] | None:
    """Split the parts of pytest's id. A number is only a position if no part is a value, as in `[gpt-4-case3]`."""
    matches = [_PART.fullmatch(part) for part in parts]
    numbers = all(match or _NUMBER.fullmatch(part) for match, part in zip(matches, parts, strict=True))
    rest, position = [], list[int]()
    for part, match in zip(parts, matches, strict=True):
        if match is not None:
            rest.append(match[1])
            position.append(int(match[2]))
        elif numbers:
            rest.append("")
            position.append(int(part))
        else:
            rest.append(part)
    return (f"{before}{'-'.join(rest)}]", tuple(position)) if position else None


def find_positional_names(names: Iterable[str]) -> list[str]:
    """The names that may be positions, also plain numbers, if there are several numbered from 0 or 1."""
    by_rest: dict[str, list[tuple[tuple[int, ...], str]]] = {}
    for name in names:
        split = ("", (int(name),)) if _NUMBER.fullmatch(name) else split_position(name)
        if split is not None:
            by_rest.setdefault(split[0], []).append((split[1], name))
    return [name for group in by_rest.values() if _is_series([index for index, _ in group]) for _, name in group]


def _is_series(positions: list[tuple[int, ...]]) -> bool:
    columns = [set(column) for column in zip(*positions, strict=False)]
    return len(positions) > 1 and all(min(each) <= 1 and max(each) - min(each) == len(each) - 1 for each in columns)


_LONGEST_NAME = 200
_MOST_FIELDS = 20


def digest(value: object) -> str:
    """A digest of JSON: the same for equal values in every process; empty for None."""
    return "" if value is None else hashlib.sha256(dump(sort_sets(value))).hexdigest()[:24]


def bounded_name(text: str) -> str:
    """A name of limited length; a longer one keeps its start, with a digest of all of it."""
    text = text.strip()
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 20]}… {digest(text)[:12]}"


def identify_case(name: str, case_input: object) -> str:
    """The key of a case: its name, or instead of a position a digest of its input; empty if both are unknown."""
    if case_input is None:
        return bounded_name(name)
    position = split_position(name)
    if position is None:
        return bounded_name(name) or digest(case_input)
    return bounded_name(f"{position[0]} {digest(case_input)}")


def select_short_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The first fields whose values may name a group of cases: short texts and whole numbers."""
    short = ((name, value) for name, value in fields.items() if isinstance(value, str | int) and value != "")
    bounded = ((name, value) for name, value in short if isinstance(value, int) or len(value) <= _LONGEST_NAME)
    return dict(islice(bounded, _MOST_FIELDS))
