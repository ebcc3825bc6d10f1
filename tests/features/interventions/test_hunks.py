"""The hunks of a change can be reverted one by one, and all of them give the base."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from scoregate.features.interventions.cause.hunks import MOST_HUNKS, ChangedFile, Hunk, find_hunks, revert_hunks

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"d\r", b"\xff\xfe\n"]), max_size=12)
CONTENTS = st.builds(lambda lines, end: b"".join(lines) + end, LINES, st.sampled_from([b"", b"x", b"a"]))
BINARY = st.sampled_from([b"\0a\nb\n", b"\0"])
VERSIONS = st.none() | CONTENTS | CONTENTS | CONTENTS | BINARY


def hunks_of(base: bytes | None, head: bytes | None) -> tuple[Hunk, ...]:
    return find_hunks([ChangedFile("a.md", base, head)])


@given(VERSIONS, VERSIONS)
def test_reverting_all_hunks_gives_the_base(base: bytes | None, head: bytes | None) -> None:
    hunks = hunks_of(base, head)
    assert revert_hunks(head, hunks) == base
    assert bool(hunks) == (base != head)


@given(CONTENTS, CONTENTS, st.data())
def test_any_hunks_can_be_reverted_in_any_order(base: bytes, head: bytes, data: st.DataObject) -> None:
    hunks = hunks_of(base, head)
    chosen = data.draw(st.lists(st.sampled_from(hunks), unique=True)) if hunks else []
    reverted = revert_hunks(head, chosen)
    assert reverted == revert_hunks(head, sorted(chosen, key=hunks.index))
    assert reverted is not None
    edits = [edit for hunk in hunks for edit in hunk.edits]
    assert all(left.end < right.start for left, right in pairwise(edits))
    growth = sum(len(edit.new) - (edit.end - edit.start) for hunk in chosen for edit in hunk.edits)
    assert len(reverted) == len(head) + growth


def test_hunks_have_the_lines_of_the_head() -> None:
    base = b"one\ntwo\nthree\nfour\nfive\nsix\n"
    head = b"zero\none\ntwo\n3\n4\nfive\n"
    assert [hunk.lines for hunk in hunks_of(base, head)] == [(1, 1), (4, 5), (6, 6)]
    added, changed, deleted = hunks_of(base, head)
    assert revert_hunks(head, [added]) == b"one\ntwo\n3\n4\nfive\n"
    assert revert_hunks(head, [changed]) == b"zero\none\ntwo\nthree\nfour\nfive\n"
    assert revert_hunks(head, [deleted]) == b"zero\none\ntwo\n3\n4\nfive\nsix\n"


def test_a_deletion_within_a_file_is_at_the_line_that_follows() -> None:
    assert [hunk.lines for hunk in hunks_of(b"a\nb\nc\n", b"a\nc\n")] == [(2, 2)]


def test_added_and_deleted_files_are_one_hunk_each() -> None:
    assert hunks_of(None, b"a\nb") == (Hunk("a.md", (1, 2), is_added=True),)
    assert hunks_of(b"a\n", None) == (Hunk("a.md", (0, 0), restored=b"a\n"),)


def test_binary_and_large_files_are_one_hunk() -> None:
    large = b"a line of text\n" * 100_000
    for base, head in ((b"\0a\nb\nc\n", b"\0b\nb\nd\n"), (large, b"x\n" + large + b"y\n")):
        (hunk,) = hunks_of(base, head)
        assert revert_hunks(head, [hunk]) == base


def test_a_file_with_many_equal_lines_keeps_what_is_the_same_at_its_ends() -> None:
    base = b"start\n" + b"}\nx\n" * 5_000 + b"end\n"
    head = b"start\n" + b"x\n}\n" * 5_000 + b"end\n"
    (hunk,) = hunks_of(base, head)
    assert hunk.lines == (2, 10_001)
    assert revert_hunks(head, [hunk]) == base


def test_a_change_with_too_many_hunks_has_one_for_each_file() -> None:
    base = b"".join(b"%d\n" % number for number in range(2 * MOST_HUNKS))
    head = b"".join(b"%d\n" % (number if number % 2 else -number - 1) for number in range(2 * MOST_HUNKS))
    assert len(hunks_of(base, head)) == MOST_HUNKS
    hunks = find_hunks([ChangedFile("b.md", base, head), ChangedFile("a.md", b"a\nb\nc\n", b"A\nb\nC\n")])
    assert [(hunk.path, hunk.lines) for hunk in hunks] == [("a.md", (1, 3)), ("b.md", (1, 2 * MOST_HUNKS))]
    assert revert_hunks(head, hunks[1:]) == base


def test_hunks_do_not_depend_on_the_order_of_the_files() -> None:
    files = [ChangedFile(f"{name}.md", b"a\nb\nc\n", b"A\nb\nC\n") for name in "abcdef"]
    shuffled = random.Random(5).sample(files, len(files))
    assert find_hunks(shuffled) == find_hunks(files)
    assert len(find_hunks(files)) == 12
