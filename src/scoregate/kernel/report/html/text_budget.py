"""How much text of a trial the page holds: limits for each text and for the whole trial; cuts are marked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic_core import to_json

from scoregate.kernel.report.text import display_name, make_visible, one_line
from scoregate.kernel.types.media import show_references

DisplayText: TypeAlias = str | tuple[str, int]

MAX_CASES = 100_000
_SHORTEST = 200
_ONE_LINE = 100
GENEROUS_CASES = 500
_GENEROUS = 64 * 1024
_LEAST, _MOST = 1024, 16 * 1024
_MOST_NAMES = 1000
_ALL = 128 * 1024 * 1024
_MEDIA = '"sha256:'


@dataclass(slots=True)
class TextBudget:
    """The characters left for the texts of one trial; a text gets at most half of them.

    `names` are the safe forms of names that occurred before; `has_media`: whether a value may have images or audio.
    """

    left: int
    redact: Callable[[str], str]
    names: dict[str, str] = field(default_factory=dict)
    has_media: bool = False

    def text(self, value: Any, *, longest_line: int = _ONE_LINE) -> DisplayText | None:
        """A value as safe text; if it was cut, with its full length.

        Args:
            value: the value.
            longest_line: JSON that is longer has a line for each part. 0 gives two values the same layout, whatever
                their lengths are, so that a word diff marks no indents.
        """
        if value is None:
            return None
        whole = value if isinstance(value, str) else _as_json(value, longest_line)
        if not isinstance(value, str) and _MEDIA in whole:
            shown = show_references(value)
            self.has_media = True
            whole = shown if isinstance(shown, str) else _as_json(shown, longest_line)
        length = len(whole)
        if length <= _SHORTEST or length <= self.left // 2:
            self.left -= length
            return make_visible(self.redact(whole))
        bound = max(_SHORTEST, self.left // 2)
        self.left -= bound
        return make_visible(self.redact(whole[: 2 * bound])[:bound]), length

    def name(self, value: str) -> str:
        """A name as in the index, never empty."""
        if (name := self.names.get(value)) is None:
            name = display_name(self.redact(value))
            if len(self.names) < _MOST_NAMES:
                self.names[value] = name
        return name

    def line(self, value: str, limit: int = 200) -> str:
        """A text on one line."""
        return one_line(self.redact(value), limit)


def _make_encoder() -> Callable[[Any], str]:
    """The compact form of JSON; `json.dumps` makes an encoder for each value, which takes most of its time."""
    encoder = json.JSONEncoder(ensure_ascii=False, default=str)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # an interpreter without Python's compiled modules
        return encoder.encode
    separators = encoder.key_separator, encoder.item_separator
    encode = make(None, encoder.default, json.encoder.encode_basestring, None, *separators, False, False, True)
    return lambda value: "".join(encode(value, 0))


_encode_compactly = _make_encoder()


def _as_json(value: Any, longest_line: int) -> str:
    if longest_line and len(compact := _encode_compactly(value)) <= longest_line:
        return compact
    try:
        return to_json(value, indent=2, inf_nan_mode="constants", fallback=str).decode()
    except ValueError:  # half of a surrogate pair, which is no text in UTF-8; this way takes ten times as long
        return json.dumps(value, ensure_ascii=False, default=str, indent=2)


def text_limits(trials: int) -> tuple[int, int]:
    """The characters for a trial of the `GENEROUS_CASES` that changed most, and of the others, by their number."""
    fair = min(max(_ALL // max(trials, 1), _LEAST), _MOST)
    return max(_GENEROUS, fair), fair
