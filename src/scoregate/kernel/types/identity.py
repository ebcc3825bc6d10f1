"""The identity of cases: names of limited length, and digests instead of positions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import islice
from typing import Any

from scoregate.kernel.types.json_io import dump, sort_sets
from scoregate.kernel.types.positions import split_position

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
