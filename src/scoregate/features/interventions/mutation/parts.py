"""Parts of a text that operators change, and the blank lines that a part takes along."""

from __future__ import annotations

import re
from typing import TypeAlias

from scoregate.kernel.types.records import record

Span: TypeAlias = tuple[int, int]
Path: TypeAlias = tuple[str | int, ...]
_BLANK_LINES = re.compile(r"(?:[ \t\r]*\n)*")
_BLANK_END = re.compile(r"\s*\Z")


@record
class Part:
    """A part of a text. All places are characters, from 0, and the end is the one after the last.

    Attributes:
        span: the part alone.
        removed: what is removed with it, such as its comma; None if only its prose can be changed.
        prose: where its own sentences and numbers are, without those of the parts inside it.
        inner: what becomes `empty`; None if nothing does.
        deleted: what replaces the removed text.
        empty: what replaces the inner text.
        siblings: parts with the same name can be swapped if they are neighbours; "" if never.
        path: the keys and indexes of its value, in a file that holds data.
        in_value: whether it is a part of that value, and not all of it.
    """

    span: Span
    removed: Span | None
    prose: Span | None = None
    inner: Span | None = None
    deleted: str = ""
    empty: str = ""
    siblings: str = ""
    path: Path = ()
    in_value: bool = False


def find_removed_lines(text: str, start: int, end: int, within: Span) -> Span:
    """Whole lines that are removed, with the blank lines that would be doubled, or left at the end.

    Args:
        text: the text.
        start: the start of the first line.
        end: the end of the last line, before or after its line break.
        within: the part of the text that the lines are in.
    """
    first, last = within
    end = min(end if text[end - 1 : end] == "\n" else text.find("\n", end) + 1 or last, last)
    blank = _BLANK_LINES.match(text, end, last)
    after = blank.end() if blank else end
    if _BLANK_END.match(text, after, last):
        kept = first + len(text[first:start].rstrip())
        return (text.find("\n", kept) + 1 if first < kept < start else start), end
    line_before = max(text.rfind("\n", first, max(start - 1, first)) + 1, first)
    return start, end if text[line_before:start].strip() else after
