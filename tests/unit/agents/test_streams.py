"""The event streams of agents: the same run in each format gives the same steps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.agents.streams import STREAMS

from scoregate.agents import PRESETS
from scoregate.agents.streams.stream import AgentStream
from scoregate.kernel.types.trajectories.trajectory import Trajectory


def read(name: str, events: list[Any]) -> AgentStream:
    stream = PRESETS[name].stream()
    for event in events:
        stream.feed(event)
    return stream


def test_every_preset_has_an_example() -> None:
    assert STREAMS.keys() == PRESETS.keys()


@pytest.mark.parametrize("name", PRESETS)
def test_the_same_run_has_the_same_steps(name: str) -> None:
    stream = read(name, STREAMS[name])
    failed, found = Trajectory(stream.reader.steps).tool_calls
    assert (failed.arguments, found.arguments) == ({"command": "sl"}, {"command": "ls"})
    assert failed.error is not None
    assert "no sl" in failed.error
    assert (failed.result, found.result, found.error) == (None, "a.txt", None)
    assert (stream.ended, stream.error, stream.tool_call_count) == (True, None, 2)
    assert Trajectory(stream.reader.steps, stream.output).final_output == "One file."


def test_tokens_and_costs_are_those_that_the_agent_reports() -> None:
    for name, wanted in (
        ("claude", (120, 10, 20, 0.25, "claude-x")),
        ("codex", (120, 10, 20, None, None)),
        ("gemini", (120, 10, 20, None, "gemini-x")),
        ("opencode", (120, 10, 20, 0.25, None)),
        ("copilot", (0, 10, 0, None, "model-x")),
    ):
        usage = read(name, STREAMS[name]).usage
        assert usage is not None
        found = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cost, usage.model)
        assert (name, *found) == (name, *wanted)


def test_the_error_that_ends_a_run_is_kept() -> None:
    for name, events, error in (
        (
            "claude",
            [{"type": "result", "subtype": "success", "is_error": True, "result": "API Error: 529"}],
            "API Error: 529",
        ),
        ("claude", [{"type": "result", "subtype": "error_max_turns"}], "error_max_turns"),
        ("claude", [{"type": "result", "subtype": "error_during_execution", "errors": ["a", "b"]}], "a; b"),
        ("codex", [{"type": "turn.failed", "error": {"message": "no quota"}}], "no quota"),
        ("codex", [{"type": "error", "message": "stream lost"}], "stream lost"),
        ("gemini", [{"type": "result", "status": "error", "error": {"message": "no quota"}}], "no quota"),
        ("gemini", [{"type": "error", "severity": "error", "message": "loop"}], "loop"),
        ("opencode", [{"type": "error", "error": {"name": "APIError", "data": {"message": "no key"}}}], "no key"),
        ("copilot", [{"type": "session.error", "data": {"message": "no quota"}}], "no quota"),
        ("copilot", [{"type": "result", "exitCode": 1}], "exit code 1"),
    ):
        assert (name, read(name, events).error) == (name, error)


def test_steps_of_a_claude_sub_agent_have_its_name() -> None:
    start = {"type": "tool_use", "id": "9", "name": "Task", "input": {"subagent_type": "reviewer", "prompt": "Look."}}
    inner = {"type": "tool_use", "id": "10", "name": "Read", "input": {"file": "a"}}
    stream = read(
        "claude",
        [
            {"type": "assistant", "message": {"content": [start]}},
            {"type": "assistant", "parent_tool_use_id": "9", "message": {"content": [inner]}},
        ],
    )
    assert [(call.name, call.agent) for call in Trajectory(stream.reader.steps).tool_calls] == [
        ("Task", ""), ("Read", "reviewer"),
    ]  # fmt: skip


def test_codex_files_and_mcp_tools_are_read() -> None:
    change = {"type": "file_change", "changes": [{"path": "a.py", "kind": "add"}], "status": "completed"}
    tool = {"type": "mcp_tool_call", "server": "docs", "tool": "find", "arguments": {"q": 1}, "result": {"n": 2}}
    search = {"type": "web_search", "query": "x"}
    stream = read("codex", [{"type": "item.completed", "item": item} for item in (change, tool, search)])
    calls = Trajectory(stream.reader.steps).tool_calls
    assert [(call.name, call.result) for call in calls] == [
        ("file_change", None), ("mcp__docs__find", {"n": 2}), ("web_search", None),
    ]  # fmt: skip
    failed = {"type": "mcp_tool_call", "server": "docs", "tool": "find", "status": "failed", "error": None}
    stream = read("codex", [{"type": "item.completed", "item": failed}])
    assert [call.error for call in Trajectory(stream.reader.steps).tool_calls] == ["failed"]


events = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "message", "content", "part", "data", "item", "state", "usage"]), inner
        )
    ),
    max_leaves=8,
)


@given(st.sampled_from(sorted(PRESETS)), st.integers(0, 20), events)
def test_an_event_with_invalid_values_is_skipped_or_a_format_error(name: str, at: int, value: Any) -> None:
    stream = PRESETS[name].stream()
    known = STREAMS[name][at % len(STREAMS[name])]
    for key in known:
        try:
            stream.feed({**known, key: value})
        except (AttributeError, KeyError, TypeError, ValueError):
            continue
    Trajectory(stream.reader.steps).plain()
