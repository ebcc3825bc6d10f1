"""Names in the order in which people count: "case 2" before "case 10"."""

from __future__ import annotations

import re
from typing import TypeAlias

_DIGITS = re.compile("([0-9]+)")
Place: TypeAlias = tuple[tuple[str | tuple[int, str], ...], str]


def natural(name: str) -> Place:
    """What sorts names so that the numbers in them count; texts and numbers take turns in it."""
    parts = _DIGITS.split(name)
    return tuple(_number(part) if at % 2 else part for at, part in enumerate(parts)), name


def _number(digits: str) -> tuple[int, str]:
    """By its length first, so that no number is too long to be read."""
    bare = digits.lstrip("0")
    return len(bare), bare
