"""How the tools of a suite's servers differ from those of the base."""

from __future__ import annotations

from dataclasses import replace

from scoregate.kernel.compare.tool_changes import describe_tool_changes
from scoregate.kernel.types.event_values import ListedTool

SEARCH, BOOK = ListedTool("shop", "search", "d", "a", "r"), ListedTool("shop", "book", "d", "a")


def test_each_difference_is_named_once() -> None:
    for tools, base, text in (
        ([SEARCH, BOOK], [BOOK, SEARCH], ""),
        ([], [SEARCH], ""),
        ([SEARCH], [], ""),
        ([SEARCH, BOOK], [SEARCH], "tools changed: book (new)"),
        ([BOOK], [BOOK, SEARCH], "tools changed: search (gone)"),
        ([replace(SEARCH, arguments="b")], [SEARCH], "tools changed: search (arguments)"),
        ([replace(SEARCH, result="", description="e")], [SEARCH], "tools changed: search (result, description)"),
        ([replace(SEARCH, server="new name")], [SEARCH], ""),
        ([SEARCH, replace(SEARCH, server="b")], [SEARCH], "tools changed: b search (new)"),
    ):
        assert describe_tool_changes(tools, base) == text


def test_many_differences_are_counted() -> None:
    many = [ListedTool("shop", f"tool {number}") for number in range(9)]
    text = describe_tool_changes([SEARCH, *many], [SEARCH])
    assert text.endswith("tool 4 (new) and 4 more")


def test_names_from_outside_are_bounded() -> None:
    assert len(ListedTool("s" * 9_999, "n" * 9_999).name) == 200
