"""The hunks of a change, and the edits that revert them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from scoregate.features.interventions.edited_trees.edits import Edit, apply_edits, count_equal
from scoregate.kernel.types.records import record

MOST_HUNKS = 500
_MOST_BYTES, _MOST_LINES = 1_000_000, 20_000
# SequenceMatcher looks at each pair of equal lines, more than once: a million pairs take about a second.
_MOST_PAIRS = 1_000_000
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


@record
class ChangedFile:
    """A file that a change touches.

    Attributes:
        path: relative to the top of the repository, with slashes.
        base: its content before the change; None if the change adds the file.
        head: its content after the change; None if the change deletes it.
        is_whole: whether a part of it can't be reverted.
    """

    path: str
    base: bytes | None
    head: bytes | None
    is_whole: bool = False


@record
class Hunk:
    """A part of a change that can be reverted by itself.

    Attributes:
        path: the file, relative to the top of the repository, with slashes.
        lines: its first and last line in the head, from 1; the place, if it only deletes lines; (0, 0) if the change
            deletes the file.
        edits: what reverts it in the head.
        restored: the content of a file that the change deletes; the reversal creates it.
        is_added: whether the change adds the file; the reversal deletes it.
    """

    path: str
    lines: tuple[int, int]
    edits: tuple[Edit, ...] = ()
    restored: bytes | None = None
    is_added: bool = False


def find_hunks(files: Iterable[ChangedFile]) -> tuple[Hunk, ...]:
    """The hunks of a change, those of a file next to each other; if there are too many, one for each file."""
    files = sorted(files, key=lambda each: each.path)
    hunks = tuple(hunk for file in files for hunk in _find_in_file(file))
    if len(hunks) <= MOST_HUNKS:
        return hunks
    return tuple(hunk for file in files for hunk in _find_in_file(file, is_coarse=True))


def revert_hunks(head: bytes | None, hunks: Sequence[Hunk]) -> bytes | None:
    """The content of one file after hunks of it were reverted; None if there is no such file.

    Args:
        head: the content after the change; None if the change deletes the file.
        hunks: any of the file's hunks, in any order.
    """
    for hunk in hunks:
        if hunk.is_added:
            return None
        if hunk.restored is not None:
            return hunk.restored
    return None if head is None else apply_edits(head, [edit for hunk in hunks for edit in hunk.edits])


def _find_in_file(file: ChangedFile, *, is_coarse: bool = False) -> Iterator[Hunk]:
    base, head = file.base, file.head
    if head is None:
        if base is not None:
            yield Hunk(file.path, (0, 0), restored=base)
    elif base is None:
        yield Hunk(file.path, (1, max(1, head.count(b"\n") + (not head.endswith(b"\n")))), is_added=True)
    elif base != head:
        is_coarse = is_coarse or file.is_whole
        yield from _make_hunks(file.path, base, head, [(0, 0, 0, 0)] if is_coarse else _find_ranges(base, head))


def _make_hunks(path: str, base: bytes, head: bytes, ranges: Iterable[tuple[int, int, int, int]]) -> Iterator[Hunk]:
    """A hunk for each range of lines, from 0: first and end in the base, first and end in the head; 0s: everything."""
    old, new = _LINE.findall(base), _LINE.findall(head)
    starts = [0]
    for line in new:
        starts.append(starts[-1] + len(line))
    for first, end, head_first, head_end in ranges:
        if not end and not head_end:
            yield Hunk(path, (1, max(1, len(new))), (Edit(path, 0, len(head), base),))
            continue
        edit = Edit(path, starts[head_first], starts[head_end], b"".join(old[first:end]))
        place = max(1, min(head_first + 1, len(new)))
        yield Hunk(path, (place, max(place, head_end)), (edit,))


def _find_ranges(base: bytes, head: bytes) -> list[tuple[int, int, int, int]]:
    """The ranges of lines that differ; one of 0s if the file is not text, or too large to compare by lines."""
    whole = [(0, 0, 0, 0)]
    if b"\0" in base or b"\0" in head or max(len(base), len(head)) > _MOST_BYTES:
        return whole
    old, new = _LINE.findall(base), _LINE.findall(head)
    if max(len(old), len(new)) > _MOST_LINES:
        return whole
    same = count_equal(old, new)
    same_at_end = count_equal(old[same:][::-1], new[same:][::-1])
    old, new = old[same : len(old) - same_at_end], new[same : len(new) - same_at_end]
    counts = Counter(new)
    if sum(counts[line] for line in old) > _MOST_PAIRS:
        return [(same, same + len(old), same, same + len(new))]
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(same + i, same + j, same + k, same + n) for kind, i, j, k, n in blocks if kind != "equal"]
