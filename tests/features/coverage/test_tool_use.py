"""What no case uses of the listed tools."""

from __future__ import annotations

from scoregate.features.coverage.lists.tools import ToolArgument, ToolDefinition
from scoregate.features.coverage.tool_use import ToolCoverage, UnusedItem, UseCount, measure_coverage
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import ToolCall

TOOLS = (
    ToolDefinition("search", (ToolArgument("query"), ToolArgument("sort", ("new", "old", "1")), ToolArgument("page"))),
    ToolDefinition("book", (ToolArgument("room"),), "tools.json", 7),
)


def measure(*calls: ToolCall, **options: object) -> ToolCoverage:
    return measure_coverage(TOOLS, [Trajectory(calls, **options).plain()])  # type: ignore[arg-type]


def test_tools_arguments_and_values_that_no_case_uses_are_listed() -> None:
    measured = measure(ToolCall("search", {"query": "x", "sort": "new", "other": 1}), ToolCall("pay"), ToolCall("pay"))
    assert (measured.tools, measured.arguments, measured.values) == (UseCount(2, 1), UseCount(3, 2), UseCount(3, 1))
    assert measured.unused == (
        UnusedItem("value", "search", "sort", "old"),
        UnusedItem("value", "search", "sort", "1"),
        UnusedItem("argument", "search", "page"),
        UnusedItem("tool", "book", path="tools.json", line=7),
    )
    assert (measured.unlisted, measured.trials, measured.unrecorded) == ({"pay": 2}, 1, 0)


def test_values_count_in_lists_and_numbers_and_mcp_names_are_known() -> None:
    measured = measure(
        ToolCall("mcp__shop__search", {"query": "x", "sort": ["new", "old", 1], "page": None}),
        ToolCall("mcp__shop__book", {"room": 1}),
        ToolCall("mcp__search", {}),
    )
    assert (measured.unused, measured.unlisted) == ((), {"mcp__search": 1})


def test_trials_without_complete_calls_are_counted() -> None:
    traces = [
        None,
        {"trace_id": "1", "spans": []},
        Trajectory((ToolCall("book", {"room": 1}),), incomplete="lost").plain(),
        Trajectory((), left_out=1).plain(),
        Trajectory().plain(),
    ]
    coverage = measure_coverage((*TOOLS, TOOLS[0]), traces)
    assert (coverage.trials, coverage.unrecorded) == (1, 4)
    assert coverage.tools == UseCount(2, 1)


def test_calls_of_many_unlisted_tools_are_bounded() -> None:
    measured = measure(*(ToolCall(f"t{number}") for number in range(500)))
    assert len(measured.unlisted) == 100
