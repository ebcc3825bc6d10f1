"""JSON that is too large to be read at once: cut into the members of an object and the elements of an array."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from scoregate.errors import ImportFailed

# Up to the next sign of structure, strings passed over as a whole; nothing is ever looked at twice.
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_SIGN = re.compile(rb'(?:[^"\[\]{},:]++|' + _STRING + rb")*+([\[\]{},:])", re.DOTALL)
_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+([\[\]{}])", re.DOTALL)
_MAX_BYTES = 64 * 1024 * 1024
_DEEPEST = 100
_SPACE = b" \t\r\n"
_OPENING = (b"[", b"{")
_BOM = b"\xef\xbb\xbf"


class Part(NamedTuple):
    """A piece of a document: one value, from `start` to `end`."""

    data: bytes
    start: int
    end: int

    @property
    def value(self) -> Any:
        """What stands there.

        Raises:
            ValueError: it is no JSON, or too large.
        """
        if self.end - self.start > _MAX_BYTES:
            raise ValueError(f"a value of {self.end - self.start:,} bytes is over the limit of {_MAX_BYTES:,}")
        return parsed(self.data[self.start : self.end])

    def members(self) -> dict[str, Part]:
        """The members of an object, uncut; of what is none, nothing."""
        return {_key(key): part for key, part in _cut(self, b"{") if key is not None}

    def elements(self) -> Iterator[Part]:
        """The elements of an array; of what is none, nothing."""
        return (part for _, part in _cut(self, b"["))


def whole(data: bytes) -> Part:
    """A document.

    Raises:
        ImportFailed: it is no JSON object.
    """
    start = len(_BOM) if data.startswith(_BOM) else 0
    if data[start : start + 1024].lstrip(_SPACE)[:1] != b"{":
        raise ImportFailed("it is no JSON object")
    return Part(data, start, len(data))


def parsed(data: bytes) -> Any:
    """A value, with what is nested too deeply for a record left out.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        value = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return _pruned(value, 0) if data.count(b"[") + data.count(b"{") > _DEEPEST else value


def _pruned(value: Any, depth: int) -> Any:
    if not isinstance(value, list | dict):
        return value
    if depth >= _DEEPEST:
        return "… left out: nested too deeply"
    if isinstance(value, list):
        return [_pruned(each, depth + 1) for each in value]
    return {name: _pruned(each, depth + 1) for name, each in value.items()}


def _key(text: bytes) -> str:
    if not text.strip(_SPACE).startswith(b'"'):
        raise ValueError("a key of an object is no text")
    return str(json.loads(text))


def _cut(part: Part, kind: bytes) -> Iterator[tuple[bytes | None, Part]]:
    """The values one level below, each with its key where it has one."""
    data = part.data
    start = next((at for at in range(part.start, part.end) if data[at] not in _SPACE), part.end)
    if data[start : start + 1] != kind:
        return
    at = begin = start + 1
    key = None
    while True:
        sign, at = _next(_SIGN, data, at, end=part.end)
        if sign in _OPENING:
            at = _end_of(data, at, part.end)
        elif sign == b":":
            key, begin = data[begin : at - 1], at
        else:
            if sign == b"," or data[begin : at - 1].strip(_SPACE):
                yield key, Part(data, begin, at - 1)
            key, begin = None, at
            if sign != b",":
                return _nothing_after(data, at, part.end)


def _next(signs: re.Pattern[bytes], data: bytes, at: int, *, end: int) -> tuple[bytes, int]:
    """The next sign, and where it ends."""
    found = signs.match(data, at, end)
    if found is None:
        raise ValueError("it ends before it is complete")
    return found[1], found.end()


def _end_of(data: bytes, at: int, end: int) -> int:
    """Where the array or object ends that has just begun."""
    depth = 1
    while depth:
        sign, at = _next(_BRACKET, data, at, end=end)
        depth += 1 if sign in _OPENING else -1
    return at


def _nothing_after(data: bytes, at: int, end: int) -> None:
    if data[at:end].strip(_SPACE):
        raise ValueError(f"there is more after its end, at byte {at:,}")
