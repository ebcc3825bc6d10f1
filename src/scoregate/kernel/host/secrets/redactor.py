"""Removes known secrets from everything that scoregate writes and prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any

from pydantic_core import SchemaError, SchemaValidator, core_schema, from_json, to_json

from scoregate.kernel.host.secrets.forms import Form, forms
from scoregate.kernel.host.secrets.values import ANY_SHAPE, shape_spans

MASK = "***"
# The most characters that one secret can take in a text, in any form.
LONGEST = 1 << 16
_SHORTEST_MASKED = 4
_MOST_LEARNT = 200
_ADD_MASK = re.compile(r"\s*::add-mask::(.+)|.*##\[add-mask\](.+)", re.IGNORECASE)
_CODES = {"%0D": "\r", "%0A": "\n", "%25": "%"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")


class Redactor:
    """Replaces secrets with three stars, in every form in which they are likely to be written.

    Values with the shape of a token are replaced, too, also if they are unknown. Scripts can declare more secrets.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._anchored: list[tuple[str, _Pattern]] = []
        self._learnt = 0
        self._may_match: Callable[[str], bool] | None = None
        for secret in set(secrets):
            self._add(secret)

    def __getstate__(self) -> dict[str, Any]:
        """The state that another process needs, which compiles its own patterns."""
        return {**self.__dict__, "_may_match": None}

    def __call__(self, data: bytes) -> bytes:
        """A document without secrets; the same object if it has none. JSON is parsed first, so escapes don't matter."""
        # JSON may escape an ASCII secret character by character.
        if not self._is_suspect(data.decode("utf-8", "replace")) and b"\\u00" not in data:
            return data
        try:
            value = from_json(data)
        # No JSON, such as a line that is cut off.
        except ValueError:
            return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        clean = self._value(value)
        # The same object where nothing changed: callers compare by identity, and JSON would be formatted anew.
        return data if clean == value else to_json(clean, inf_nan_mode="constants")

    def text(self, text: str) -> str:
        """A text without secrets."""
        while self._is_suspect(text) and (spans := list(self._spans(text))):
            parts, position = list[str](), 0
            for start, end in spans:
                parts += (text[position:start], MASK)
                position = end
            text = "".join((*parts, text[position:]))
        return text

    def stream(self, chunks: Iterable[str]) -> Iterator[str]:
        """The text of chunks without secrets, also if a secret is split between chunks.

        It yields once for each chunk, maybe an empty text, so that the caller decides when the next one is made.
        """
        rest = ""
        for chunk in chunks:
            rest += chunk
            clean = ""
            if len(rest) > 4 * LONGEST:
                clean, rest = self.redact_settled(rest)
            yield clean
        yield self.text(rest)

    def redact_settled(self, text: str) -> tuple[str, str]:
        """Redact the part of a text that later text can't change; returns it and the rest, which is unchanged."""
        cut = max(0, len(text) - LONGEST)
        if self._is_suspect(text):
            # Never cut within a secret: each half alone is not recognised.
            cut = next((end for start, end in self._spans(text) if start < cut < end), cut)
        return self.text(text[:cut]), text[cut:]

    def learn_from(self, line: str) -> None:
        """Add the secret that a script declares by printing `::add-mask::VALUE`."""
        match = _ADD_MASK.fullmatch(line) if "add-mask" in line.lower() else None
        # A suite that prints masks without end would make each search slower.
        if match is None or self._learnt >= _MOST_LEARNT:
            return
        secret = _unescaped(match[1] or match[2]).strip()
        if len(secret) >= _SHORTEST_MASKED:
            self._learnt += 1
            self._add(secret)

    def _add(self, secret: str) -> None:
        for form in forms(secret):
            pattern = _Pattern(form)
            self._anchored += ((anchor, pattern) for anchor in form.anchors or ("",))
        self._may_match = None  # the common search is compiled anew when it is needed

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self._value(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, bool) or value is None:
            return value
        # A number may be a secret, too, such as a PIN.
        return value if self.text(str(value)) == str(value) else MASK

    def _is_suspect(self, text: str) -> bool:
        """Whether a text may contain a secret; a fast search."""
        if self._may_match is None:
            self._may_match = _search({ANY_SHAPE, *(anchor or pattern.searched for anchor, pattern in self._anchored)})
        return self._may_match(text if text.isascii() else _encodable(text))

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The start and end of each secret, in order. Overlapping ones are merged."""
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
    """A form. Its pattern is compiled when one of its anchors is in a text for the first time."""

    def __init__(self, form: Form) -> None:
        self._form = form

    @property
    def searched(self) -> str:
        """The pattern for Rust's engine, whose texts have no surrogates."""
        return _SURROGATE_ESCAPE.sub("\ufffd", self._form.pattern)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._form.pattern)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The start and end of each match."""
        for match in self._compiled.finditer(text):
            yield match.span()


def _search(patterns: Iterable[str]) -> Callable[[str], bool]:
    """One search for all anchors and shapes at once, by pydantic's regular expression engine.

    It takes the same time for one secret and for hundreds. `in` for each of hundreds takes ten times as long.
    """
    try:
        validator = SchemaValidator(core_schema.str_schema(pattern="|".join(patterns), regex_engine="rust-regex"))
    except SchemaError:  # the pattern is over the engine's limit
        return lambda _: True
    return validator.isinstance_python


_may_have_shape = _search([ANY_SHAPE])


def _encodable(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _unescaped(text: str) -> str:
    for code, character in _CODES.items():
        text = text.replace(code, character)
    return text
