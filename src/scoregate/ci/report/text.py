"""Untrusted text made harmless to look at: nothing invisible, nothing that steers a terminal, never too much."""

from __future__ import annotations

import re

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
_NAME = 120


def visible(text: str) -> str:
    """`text` without terminal sequences, every character that cannot be seen written as an escape (`\\u202e`).

    What is left is well-formed in UTF-8 and in XML. Line ends become `\\n`; tabs stay.
    """
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _INVISIBLE.sub(_escaped, _ANSI.sub("", text))


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def excerpt(text: str, limit: int) -> str:
    """The visible form of `text`, at most `limit` characters, the last of them `…` where more was left out."""
    shown = visible(text[: 4 * limit])
    if len(shown) <= limit and len(text) <= 4 * limit:
        return shown
    return shown[: limit - 1] + "…"


def one_line(text: str, limit: int) -> str:
    """As `excerpt`, with every run of white space folded into one space."""
    if len(text) <= limit and text.isprintable() and "  " not in text:
        return text.strip()
    return excerpt(" ".join(excerpt(text, 4 * limit).split()), limit)


def name(text: str, limit: int = _NAME) -> str:
    """A name on one line, never empty."""
    return one_line(text, limit) or "(no name)"
