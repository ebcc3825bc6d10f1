"""Takes known secrets out of what we write and print."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any

from pydantic_core import SchemaError, SchemaValidator, core_schema, from_json, to_json

from scoregate.ci.secrets.forms import Form, forms
from scoregate.ci.secrets.values import ANY_SHAPE, shape_spans

MASK = "***"
# What one secret can fill in a text, however it is written.
LONGEST = 1 << 16
_SHORTEST_MASKED = 4
_MOST_LEARNT = 200
_ADD_MASK = re.compile(r"\s*::add-mask::(.+)|.*##\[add-mask\](.+)", re.IGNORECASE)
_CODES = {"%0D": "\r", "%0A": "\n", "%25": "%"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")


class Redactor:
    """Replaces secrets by three stars, in every form in which they are likely to be written; it may learn more of them.

    Values with the shape of a token are replaced too, whether they are known or not.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._anchored: list[tuple[str, _Pattern]] = []
        self._learnt = 0
        self._may_match: Callable[[str], bool] | None = None
        for secret in set(secrets):
            self._add(secret)

    def __call__(self, data: bytes) -> bytes:
        """A document without any of them; in JSON, whatever escapes it was written with."""
        if not self._is_suspect(data.decode("utf-8", "replace")) and b"\\u00" not in data:
            return data
        try:
            value = from_json(data)
        except ValueError:
            return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        clean = self._value(value)
        return data if clean == value else to_json(clean, inf_nan_mode="constants")

    def text(self, text: str) -> str:
        """Text without any of them."""
        while self._is_suspect(text) and (spans := list(self._spans(text))):
            kept, at = list[str](), 0
            for start, end in spans:
                kept += (text[at:start], MASK)
                at = end
            text = "".join((*kept, text[at:]))
        return text

    def stream(self, chunks: Iterable[str]) -> Iterator[str]:
        """The chunks of a text without any of them, also where one goes from chunk to chunk."""
        rest = ""
        for chunk in chunks:
            rest += chunk
            if len(rest) > 4 * LONGEST:
                clean, rest = self.settled(rest)
                yield clean
        yield self.text(rest)

    def settled(self, text: str) -> tuple[str, str]:
        """The clean form of as much of a text as nothing that follows can change, and the rest as it is."""
        cut = max(0, len(text) - LONGEST)
        if self._is_suspect(text):
            cut = next((end for start, end in self._spans(text) if start < cut < end), cut)
        return self.text(text[:cut]), text[cut:]

    def listen(self, line: str) -> None:
        """Learn what a script declares secret by printing `::add-mask::VALUE`; that command itself is not passed on."""
        found = _ADD_MASK.fullmatch(line) if "add-mask" in line.lower() else None
        if found is None or self._learnt >= _MOST_LEARNT:
            return
        secret = _unescaped(found[1] or found[2]).strip()
        if len(secret) >= _SHORTEST_MASKED:
            self._learnt += 1
            self._add(secret)

    def _add(self, secret: str) -> None:
        for form in forms(secret):
            pattern = _Pattern(form)
            self._anchored += ((anchor, pattern) for anchor in form.anchors or ("",))
        self._may_match = None

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self._value(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, bool) or value is None:
            return value
        return value if self.text(str(value)) == str(value) else MASK

    def _is_suspect(self, text: str) -> bool:
        """Whether a secret may be in it: a search that is fast where none is."""
        if self._may_match is None:
            self._may_match = _search({ANY_SHAPE, *(anchor or pattern.searched for anchor, pattern in self._anchored)})
        return self._may_match(_encodable(text))

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where they are, in order; those that overlap are one."""
        likely = {pattern for anchor, pattern in self._anchored if anchor in text}
        shapes = shape_spans(text) if _may_have_shape(_encodable(text)) else ()
        first = last = 0
        for start, end in sorted(chain(shapes, *(pattern.spans(text) for pattern in likely))):
            if start < last:
                last = max(last, end)
                continue
            if last:
                yield first, last
            first, last = start, end
        if last:
            yield first, last


class _Pattern:
    """A form, whose pattern is compiled once one of its anchors is in a text."""

    def __init__(self, form: Form) -> None:
        self._form = form

    @property
    def searched(self) -> str:
        """The pattern as Rust has it, whose texts hold no surrogates."""
        return _SURROGATE_ESCAPE.sub("\ufffd", self._form.pattern)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._form.pattern)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it is found."""
        for match in self._compiled.finditer(text):
            yield match.span()


def _search(patterns: Iterable[str]) -> Callable[[str], bool]:
    """One search for all anchors and shapes at once, by the engine that pydantic checks patterns with.

    It takes the same time for one secret and for hundreds; `in` for each of them takes ten times as long.
    """
    try:
        validator = SchemaValidator(core_schema.str_schema(pattern="|".join(patterns), regex_engine="rust-regex"))
    except SchemaError:  # more than the engine takes
        return lambda _: True
    return validator.isinstance_python


_may_have_shape = _search([ANY_SHAPE])


def _encodable(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _unescaped(text: str) -> str:
    for code, character in _CODES.items():
        text = text.replace(code, character)
    return text
