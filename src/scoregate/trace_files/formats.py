"""The formats of exports. Each module has a name, recognizes its records, and reads them as parts of traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from scoregate.trace_files import braintrust, langfuse, langsmith, otlp, phoenix
from scoregate.trace_files.parts import TracePart


class Format(NamedTuple):
    """A format: its name, the check for its records, and the reader of a record."""

    name: str
    matches: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], Iterator[TracePart]]


FORMATS = tuple(Format(each.NAME, each.matches, each.read) for each in (otlp, braintrust, langsmith, phoenix, langfuse))


def find_format(row: Mapping[str, Any]) -> Format | None:
    """The format of a record; None if it is unknown."""
    return next((each for each in FORMATS if each.matches(row)), None)
