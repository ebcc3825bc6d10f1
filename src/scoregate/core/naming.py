"""How a case is called where people read of it, and in which order they expect it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

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


def place(case_hash: str) -> Place:
    """What sorts cases by their hashes as people count; digests have no order."""
    return () if _DIGEST.fullmatch(case_hash) else natural(case_hash)


def natural(text: str) -> Place:
    """What sorts texts so that the numbers in them count, "case 2" before "case 10"; texts and numbers take turns."""
    return tuple(_number(part) if at % 2 else part for at, part in enumerate(_DIGITS.split(text)))


def in_order(named: Mapping[str, _T]) -> dict[str, _T]:
    """The same by name, whoever spoke first."""
    if len(named) < 2:
        return dict(named)
    return {name: named[name] for name in sorted(named, key=lambda name: (natural(name), name))}


def _number(digits: str) -> tuple[int, str]:
    """By its length first, so that no number is too long to be read."""
    bare = digits.lstrip("0")
    return len(bare), bare
