"""Edits of files, by their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from scoregate.kernel.types.records import record


@record
class Edit:
    """Replaces a part of a file.

    Attributes:
        path: the file, relative to the top of the repository, with slashes.
        start: the first byte that is replaced, from 0.
        end: the byte after the last one.
        new: the bytes that replace them.
    """

    path: str
    start: int
    end: int
    new: bytes = b""


@record
class Broken:
    """A tree whose suites don't run, and why."""

    reason: str


def apply_edits(content: bytes, edits: Sequence[Edit]) -> bytes:
    """The content of one file with its edits, in any order.

    Raises:
        ValueError: two edits overlap, or one ends beyond the file.
    """
    parts, last = [], 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if not last <= edit.start <= edit.end <= len(content):
            raise ValueError(f"the edits of {edit.path} overlap, or end beyond the file")
        parts += [content[last : edit.start], edit.new]
        last = edit.end
    return b"".join((*parts, content[last:]))


def count_equal(old: Sequence[object], new: Sequence[object]) -> int:
    """How many items at the start are the same: lines, or characters of a text."""
    return next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
