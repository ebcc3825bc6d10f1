"""What no case uses of the listed tools."""

from __future__ import annotations

from scoregate.core.trajectories.coverage import (
    ToolArgument,
    ToolCoverage,
    ToolDefinition,
    UnusedItem,
    UseCount,
    measure_coverage,
)
from scoregate.core.trajectories.trajectory import Trajectory
from scoregate.core.trajectory_steps import ToolCall

TOOLS = (
    ToolDefinition("search", (ToolArgument("query"), ToolArgument("sort", ("new", "old", "1")), ToolArgument("page"))),
    ToolDefinition("book", (ToolArgument("room"),), "tools.json", 7),
)


def measure(*calls: ToolCall, **options: object) -> ToolCoverage:
    return measure_coverage(TOOLS, [Trajectory(calls, **options).plain()])  # type: ignore[arg-type]


def test_tools_arguments_and_values_that_no_case_uses_are_listed() -> None:
    found = measure(ToolCall("search", {"query": "x", "sort": "new", "other": 1}), ToolCall("pay"), ToolCall("pay"))
    assert (found.tools, found.arguments, found.values) == (UseCount(2, 1), UseCount(3, 2), UseCount(3, 1))
    assert found.unused == (
        UnusedItem("value", "search", "sort", "old"),
        UnusedItem("value", "search", "sort", "1"),
        UnusedItem("argument", "search", "page"),
        UnusedItem("tool", "book", path="tools.json", line=7),
    )
    assert (found.unlisted, found.trials, found.unrecorded) == ({"pay": 2}, 1, 0)


def test_values_count_in_lists_and_numbers_and_mcp_names_are_known() -> None:
    found = measure(
        ToolCall("mcp__shop__search", {"query": "x", "sort": ["new", "old", 1], "page": None}),
        ToolCall("mcp__shop__book", {"room": 1}),
        ToolCall("mcp__search", {}),
    )
    assert (found.unused, found.unlisted) == ((), {"mcp__search": 1})


def test_trials_without_complete_calls_are_counted() -> None:
    traces = [
        None,
        {"trace_id": "1", "spans": []},
        Trajectory((ToolCall("book", {"room": 1}),), incomplete="lost").plain(),
        Trajectory((), left_out=1).plain(),
        Trajectory().plain(),
    ]
    found = measure_coverage((*TOOLS, TOOLS[0]), traces)
    assert (found.trials, found.unrecorded) == (1, 4)
    assert found.tools == UseCount(2, 1)


def test_calls_of_many_unlisted_tools_are_bounded() -> None:
    found = measure(*(ToolCall(f"t{number}") for number in range(500)))
    assert len(found.unlisted) == 100
