"""How much of a trial the page holds: each text up to a bound, all of them up to another, what is left out told."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from scoregate.ci.report.text import name, one_line, visible

Shown: TypeAlias = str | tuple[str, int]

LISTED = 100_000
_SHORTEST = 200
_ONE_LINE = 100
_GENEROUS_CASES = 500
_GENEROUS = 64 * 1024
_LEAST, _MOST = 1024, 16 * 1024
_ALL = 128 * 1024 * 1024


@dataclass(slots=True)
class Room:
    """What is left for the texts of one trial, in characters; a text gets at most half of it."""

    left: int
    redact: Callable[[str], str]

    def text(self, value: Any) -> Shown | None:
        """A value as text, harmless to look at; where it was shortened, with the length of the whole."""
        if value is None:
            return None
        whole = value if isinstance(value, str) else _as_json(value)
        bound = max(_SHORTEST, self.left // 2)
        if len(whole) <= bound:
            self.left -= len(whole)
            return visible(self.redact(whole))
        self.left -= bound
        return visible(self.redact(whole[: 2 * bound])[:bound]), len(whole)

    def name(self, value: str) -> str:
        """A name as the index has it, never empty."""
        return name(self.redact(value))

    def line(self, value: str, limit: int = 200) -> str:
        """A sentence on one line."""
        return one_line(self.redact(value), limit)


def _as_json(value: Any) -> str:
    compact = json.dumps(value, ensure_ascii=False, default=str)
    return compact if len(compact) <= _ONE_LINE else json.dumps(value, ensure_ascii=False, default=str, indent=2)


def bound_of(trials: int, rank: int) -> int:
    """How many characters a trial may have: many for the cases that changed most, else by how many trials there are."""
    fair = min(max(_ALL // max(trials, 1), _LEAST), _MOST)
    return max(_GENEROUS, fair) if rank < _GENEROUS_CASES else fair
