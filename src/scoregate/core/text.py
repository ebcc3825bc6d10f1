"""Text and numbers from outside: bounded, without control characters, in UTF-8."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from math import isfinite
from typing import Any, TypeAlias, TypeGuard, TypeVar

_NOTE = 40


def truncate_middle(text: str, longest: int) -> str:
    """The text in at most `longest` characters (100 at least): its beginning, a note, its end."""
    if len(text) <= longest:
        return text
    half = (longest - _NOTE) // 2
    return f"{text[:half]}… {len(text) - 2 * half:,} characters left out …{text[-half:]}"


def replace_surrogates(text: str) -> str:
    """The text; what has no form in UTF-8, half a surrogate pair, becomes `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


LONGEST_NAME = 80
_DIGEST = re.compile(r"[0-9a-f-]{16,}", re.IGNORECASE)
_DIGITS = re.compile("([0-9]+)")
_T = TypeVar("_T")
Place: TypeAlias = tuple[str | tuple[int, str], ...]


def case_name(case_hash: str, body: Any) -> str:
    """The hash, or in the place of a digest the first text in the case; empty where there is none."""
    if not _DIGEST.fullmatch(case_hash):
        return case_hash[:LONGEST_NAME]
    texts = (item for item in body.values() if isinstance(item, str)) if isinstance(body, Mapping) else iter(())
    return " ".join(next(texts, "")[: 4 * LONGEST_NAME].split())[:LONGEST_NAME]


def case_sort_key(case_hash: str) -> Place:
    """What sorts cases by their hashes as people count; digests have no order."""
    return () if _DIGEST.fullmatch(case_hash) else natural_sort_key(case_hash)


def natural_sort_key(text: str) -> Place:
    """What sorts texts so that the numbers in them count, "case 2" before "case 10"; texts and numbers take turns."""
    return tuple(_number_sort_key(part) if at % 2 else part for at, part in enumerate(_DIGITS.split(text)))


def sort_by_name(named: Mapping[str, _T]) -> dict[str, _T]:
    """The same by name, whoever spoke first."""
    if len(named) < 2:
        return dict(named)
    return {name: named[name] for name in sorted(named, key=lambda name: (natural_sort_key(name), name))}


def _number_sort_key(digits: str) -> tuple[int, str]:
    """By its length first, so that no number is too long to be read."""
    bare = digits.lstrip("0")
    return len(bare), bare


def matches_filters(suite: str, globs: Iterable[str]) -> bool:
    """Whether a suite's id matches one of the globs; without any, every suite is wanted."""
    globs = tuple(globs)
    return not globs or any(fnmatchcase(suite, glob) for glob in globs)


def parse_number(said: object) -> float | None:
    """A number, NaN and infinities among them; None where it is none. A bool is none."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    try:
        return float(said)
    except OverflowError:
        return None


def parse_amount(said: object) -> float | None:
    """A finite number that is not negative, such as a duration or a price; None where it is none."""
    found = parse_number(said)
    return found if found is not None and isfinite(found) and found >= 0 else None


def is_whole_number(said: object, least: int) -> TypeGuard[int]:
    """Whether it is a whole number of at least `least`. A bool is none."""
    return isinstance(said, int) and not isinstance(said, bool) and said >= least


def is_positive_number(said: object) -> TypeGuard[float]:
    """Whether it is a number over 0, infinity among them. A bool is none."""
    return isinstance(said, int | float) and not isinstance(said, bool) and said > 0
