"""Untrusted text made safe to display: no invisible characters, no terminal sequences, a limited length."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ANSI = re.compile(
    r"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # strings with an end: titles, links
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|\x1b[ -/]*[0-~]"  # short ones
)
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
    "|(?<![\u0600-\u0dff\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]"  # these join letters and emoji
)
_MAX_NAME = 120


def make_visible(text: str) -> str:
    """`text` without terminal sequences, with invisible characters as escapes (`\\u202e`).

    The result is valid in UTF-8 and in XML. Line ends become `\\n`; tabs stay.
    """
    if text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _INVISIBLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), _ANSI.sub("", text))


def excerpt(text: str, limit: int) -> str:
    """The visible form of `text` with at most `limit` characters; the last is `…` if it was cut."""
    shown = make_visible(text[: 4 * limit])
    if len(shown) <= limit and len(text) <= 4 * limit:
        return shown
    return shown[: limit - 1] + "…"


def one_line(text: str, limit: int) -> str:
    """An excerpt on one line, with white space folded."""
    if len(text) <= limit and text.isprintable() and "  " not in text:
        return text.strip()
    return excerpt(" ".join(excerpt(text, 4 * limit).split()), limit)


def display_name(text: str, limit: int = _MAX_NAME) -> str:
    """A name on one line, never empty."""
    return one_line(text, limit) or "(no name)"


_MOST_NAMES = 5


def shorten_list(names: Sequence[str]) -> str:
    """The first names, and how many there are more."""
    shown = ", ".join(names[:_MOST_NAMES])
    return f"{shown} and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else shown
