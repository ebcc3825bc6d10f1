"""Texts and numbers: truncation, sorting and validation of untrusted ones, and amounts of money."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from math import isfinite
from typing import Any, TypeAlias, TypeGuard, TypeVar

_NOTE = 40


def truncate_middle(text: str, longest: int) -> str:
    """Truncate a text to `longest` characters (at least 100): its start, a note, its end."""
    if len(text) <= longest:
        return text
    half = (longest - _NOTE) // 2
    return f"{text[:half]}… {len(text) - 2 * half:,} characters left out …{text[-half:]}"


def mark_output(line: str) -> str:
    """A line that another program printed, with the mark which shows that scoregate did not write it."""
    return f"  | {line}"


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which have no UTF-8 form, by `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


LONGEST_NAME = 80
_DIGEST = re.compile(r"[0-9a-f-]{16,}", re.IGNORECASE)
_DIGITS = re.compile("([0-9]+)")
_T = TypeVar("_T")
SortKey: TypeAlias = tuple[str | tuple[int, str], ...]


def case_name(case_hash: str, body: Any) -> str:
    """The readable name of a case: its hash, or instead of a digest the first text in the case; may be empty."""
    if not _DIGEST.fullmatch(case_hash):
        return case_hash[:LONGEST_NAME]
    texts = (item for item in body.values() if isinstance(item, str)) if isinstance(body, Mapping) else iter(())
    return " ".join(next(texts, "")[: 4 * LONGEST_NAME].split())[:LONGEST_NAME]


def case_sort_key(case_hash: str) -> SortKey:
    """The natural sort key of a case's hash; all digests have the same key."""
    return () if _DIGEST.fullmatch(case_hash) else natural_sort_key(case_hash)


def natural_sort_key(text: str) -> SortKey:
    """A sort key that compares numbers in texts by value: "case 2" comes before "case 10"."""
    key: list[str | tuple[int, str]] = [*(parts := _DIGITS.split(text))]  # texts and numbers alternate
    # Numbers are compared by length first, since int() refuses very long ones.
    key[1::2] = [(len(digits), digits) for digits in [part.lstrip("0") for part in parts[1::2]]]
    return tuple(key)


def rank_names(names: Sequence[str]) -> list[int]:
    """The rank of each name in natural order, from 0."""
    ranks = [0] * len(names)
    for rank, index in enumerate(sorted(range(len(names)), key=lambda index: natural_sort_key(names[index]))):
        ranks[index] = rank
    return ranks


def sort_by_name(values: Mapping[str, _T]) -> dict[str, _T]:
    """Sort a mapping by its keys in natural order."""
    if len(values) < 2:
        return dict(values)
    return {name: values[name] for name in sorted(values, key=lambda name: (natural_sort_key(name), name))}


_MOST_COMPARED_NAMES = 5_000
_MOST_SIMILAR_NAMES = 3
_MOST_LISTED_NAMES = 20


def suggest_names(typed: str, known: Iterable[str]) -> str:
    """Advice for an unknown name: up to three similar names, else up to 20 of the known ones; empty without any."""
    from difflib import get_close_matches

    names = list(known)
    if similar := get_close_matches(typed, names[:_MOST_COMPARED_NAMES], _MOST_SIMILAR_NAMES):
        return f"Did you mean {' or '.join(f'{name!r:.100}' for name in similar)}?"
    listed = ", ".join(f"{name!r:.100}" for name in names[:_MOST_LISTED_NAMES])
    return f"There are: {listed}" if listed else ""


def matches_filters(suite: str, globs: Iterable[str]) -> bool:
    """Whether a suite's id matches one of the globs, or there are none."""
    globs = tuple(globs)
    return not globs or any(fnmatchcase(suite, glob) for glob in globs)


def parse_number(value: object) -> float | None:
    """The value as a float, including NaN and infinities; None if it is a bool or no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def parse_amount(value: object) -> float | None:
    """The value as a float, such as a duration or a price; None if it is no finite number of at least 0."""
    number = parse_number(value)
    return number if number is not None and isfinite(number) and number >= 0 else None


def is_whole_number(value: object, least: int) -> TypeGuard[int]:
    """Whether the value is an int of at least `least`, and no bool."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_positive_number(value: object) -> TypeGuard[float]:
    """Whether the value is a number above 0, including infinity, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def format_local_time(seconds: float) -> str:
    """A time as people read their clock, with its time zone: `2026-01-31 09:30:00 UTC`.

    Args:
        seconds: since the epoch.
    """
    return time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(seconds))


def describe_width(cells: int, columns: int) -> str:
    """The problem of a table's row with another number of cells than the header."""
    return f"has {cells} {'cell' if cells == 1 else 'cells'}, but the header has {columns}"


def format_dollars(dollars: float) -> str:
    """US dollars: `$0.42`, `$12.30`; below a cent two significant digits, `$0.0042`."""
    dollars = round(dollars, 12)  # sums in another order differ in their last digits
    if 0 < dollars < 0.01:
        text = f"{dollars:.2g}"
        return f"${float(text):.6f}".rstrip("0") if dollars >= 0.00001 else "<$0.00001"
    return f"${dollars:,.2f}"
