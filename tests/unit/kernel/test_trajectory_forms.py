"""Trajectories as plain data and as text, where they come from, and which case spans belong to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoregate.kernel.types.task_trace import Content, ModelCall, TaskTrace, read_content
from scoregate.kernel.types.trace import Span, Trace
from scoregate.kernel.types.trajectories.trace import read_trace
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import (
    MOST_STEPS,
    Message,
    ToolCall,
    add_tool_call,
    read_step,
    strip_server,
    to_plain_step,
)


@pytest.mark.parametrize(
    ("name", "stripped"),
    [
        ("mcp__shop__search", "search"),
        ("mcp__shop__my__search", "my__search"),
        ("mcp__search", "mcp__search"),
        ("shop__my__search", "shop__my__search"),
        ("search", "search"),
    ],
)
def test_the_name_of_a_server_is_stripped(name: str, stripped: str) -> None:
    assert strip_server(name) == stripped


def test_a_call_is_shown_like_a_function() -> None:
    assert str(ToolCall("t")) == "t()"
    assert str(ToolCall("t", {"a": 1, "": "raw", "b": "x"})) == "t(a=1, raw, b=x)"
    assert str(ToolCall("t", {"": "x" * 200})) == f"t({'x' * 200})"
    assert len(str(ToolCall("t", {"": "x" * 201}))) < 203


def test_a_step_is_plain_data_without_empty_fields() -> None:
    assert to_plain_step(Message("user", "a"), 100) == {"role": "user", "text": "a"}
    full = ToolCall("t", {"a": (1,)}, {"b": 2}, "e", 0.0, 0, "x" * 201)
    assert to_plain_step(full, 100) == {
        "tool": "t", "arguments": {"a": [1]}, "result": {"b": 2}, "error": "e", "duration_s": 0.0, "tokens": 0,
        "agent": "x" * 200,
    }  # fmt: skip
    assert to_plain_step(ToolCall("t" * 201), 100) == {"tool": "t" * 200, "arguments": {}}


def test_values_of_steps_are_bounded() -> None:
    exact = {"a": "x" * 92}
    assert len(json.dumps(exact, separators=(",", ":"))) == 100
    assert to_plain_step(ToolCall("t", exact), 100)["arguments"] == exact
    cut = to_plain_step(ToolCall("t", {"a": "x" * 200, "b": 1}, "y" * 101, "z" * 101), 100)
    assert cut["arguments"]["b"] == 1
    assert (len(cut["arguments"]["a"]) <= 100, len(cut["result"]) <= 100, len(cut["error"]) <= 100) == (
        True,
        True,
        True,
    )
    assert isinstance(to_plain_step(ToolCall("t", {}, ["y" * 200]), 100)["result"], str)
    assert len(to_plain_step(Message("user", "x" * 101), 100)["text"]) <= 100
    # Each of many arguments has its share; if they still are too long together, they are one text.
    four = to_plain_step(ToolCall("t", dict.fromkeys("abcd", "x" * 5000)), 4_000)["arguments"]
    assert sorted(four) == ["a", "b", "c", "d"]
    assert all(450 < len(value) <= 500 for value in four.values())
    many = to_plain_step(ToolCall("t", {str(number): "x" * 200 for number in range(50)}), 400)["arguments"]
    assert list(many) == [""]
    assert len(many[""]) <= 400
    named = to_plain_step(ToolCall("t", {"n" * 300: 1, "b": "x" * 600}), 500)["arguments"]
    assert list(named) == ["n" * 200, "b"]


@pytest.mark.parametrize(
    ("value", "step"),
    [
        ({"role": "user", "text": "a"}, Message("user", "a")),
        ({"role": "system", "text": "a", "agent": "b"}, Message("system", "a", "b")),
        ({"role": "reasoning", "text": "a", "agent": 5}, Message("reasoning", "a")),
        ({"role": "other", "text": "a"}, None),
        ({"role": "user", "text": 5}, None),
        ({"role": "other", "text": "a", "tool": "t"}, ToolCall("t")),
        ({"tool": "t", "arguments": {"a": 1}, "result": 0, "agent": "b"}, ToolCall("t", {"a": 1}, 0, agent="b")),
        ({"tool": "t", "arguments": "x", "error": 5}, ToolCall("t", error="5")),
        ({"tool": "t", "duration_s": 2, "tokens": 3.9}, ToolCall("t", duration_s=2.0, tokens=3)),
        ({"tool": "t", "duration_s": -1, "tokens": "3"}, ToolCall("t")),
        ({"tool": 5}, None),
        ({}, None),
        ("t", None),
    ],
)
def test_a_step_is_read_from_the_record(value: Any, step: Any) -> None:
    assert read_step(value) == step


def test_reported_calls_are_added_to_a_trajectory_only() -> None:
    trace = add_tool_call(None, ToolCall("a"))
    assert add_tool_call(trace, ToolCall("b", {}, "x" * 4_001)) is trace
    assert [step["tool"] for step in trace["steps"]] == ["a", "b"]
    assert len(trace["steps"][1]["result"]) <= 4_000
    for other in ({"type": "trace", "steps": []}, {"type": "trajectory", "steps": 5}, "text", {"type": "trajectory"}):
        before = json.dumps(other)
        assert add_tool_call(other, ToolCall("c")) is other
        assert json.dumps(other) == before
    full = {"type": "trajectory", "steps": [{}] * (MOST_STEPS - 1)}
    counts = [(len(add_tool_call(full, ToolCall("c"))["steps"]), full.get("left_out")) for _ in range(3)]
    assert counts == [(MOST_STEPS, None), (MOST_STEPS, 1), (MOST_STEPS, 2)]


def test_a_trajectory_is_plain_data_without_empty_fields() -> None:
    assert Trajectory().plain() == {"type": "trajectory", "steps": []}
    full = Trajectory(
        (Message("user", "a"),),
        changed_files=["f" * 1_001] * 1_001,
        stop_reason="s" * 201,
        left_out=2,
        incomplete="i" * 501,
    )
    plain = full.plain()
    assert (plain["stop_reason"], plain["left_out"], plain["incomplete"]) == ("s" * 200, 2, "i" * 500)
    assert (len(plain["changed_files"]), plain["changed_files"][0]) == (1_000, "f" * 1_000)
    assert Trajectory(changed_files=[]).plain()["changed_files"] == []
    long = Message("user", "x" * 30_000)
    assert 19_000 < len(Trajectory((long,)).plain()["steps"][0]["text"]) <= 20_000
    assert 1_900 < len(Trajectory([long] * 1_000).plain()["steps"][0]["text"]) <= 2_000
    assert Trajectory([Message("user", "x")] * 1_003, left_out=2).plain()["left_out"] == 5


def test_a_trajectory_is_read_from_plain_data() -> None:
    steps = [{"role": "user", "text": "a"}, {"odd": 1}]
    value = {
        "type": "trajectory",
        "steps": steps,
        "changed_files": ["f", 5],
        "stop_reason": 7,
        "left_out": 2,
        "incomplete": 8,
    }
    assert Trajectory.read(value) == Trajectory(
        (Message("user", "a"),), changed_files=["f", "5"], stop_reason="7", left_out=3, incomplete="8"
    )
    assert Trajectory.read({"type": "trajectory", "steps": [], "changed_files": "f", "left_out": -1}) == Trajectory()
    others: tuple[Any, ...] = (
        {"type": "trace", "steps": []},
        {"type": "trajectory"},
        {"type": "trajectory", "steps": {}},
        [],
        None,
    )
    for other in others:
        assert Trajectory.read(other) is None


def test_a_trajectory_is_shown_step_by_step() -> None:
    trajectory = Trajectory(
        [
            Message("user", "a"),
            ToolCall("t", {"b": 1}, {"c": 2}),
            ToolCall("u", {}, "r", "off", agent="h"),
            ToolCall("v"),
            Message("assistant", "d", "h"),
            Message("user", "x" * 4_001),
            ToolCall("w", {"": "x" * 4_001}, "y" * 4_001),
            ToolCall("z", {}, None, "z" * 4_001),
        ],
        changed_files=[],
        left_out=1_000,
    )
    lines = trajectory.text().split("\n")
    assert lines[:7] == [
        "1. user: a",
        '2. tool: t({"b":1})',
        '   result: {"c":2}',
        "3. tool (h): u({})",
        "   error: off",
        "4. tool: v({})",
        "5. assistant (h): d",
    ]
    assert all(3_900 < len(line) < 4_030 for line in (*lines[7:10], lines[11]))
    assert lines[12:] == ["… 1,000 steps left out …", "Changed files: none"]
    assert Trajectory(changed_files=["a", "b"]).text() == "Changed files: a, b"
    assert Trajectory().text() == ""
    assert len(Trajectory([Message("user", "x" * 4_000)] * 9).text()) <= 20_000


def test_a_trajectory_of_messages_or_spans_has_its_details() -> None:
    messages = [{"role": "user", "content": "a"}]
    assert Trajectory.from_messages(messages, stop_reason="s") == Trajectory((Message("user", "a"),), stop_reason="s")
    empty = '{"resourceSpans": []}'
    assert Trajectory.from_otlp(empty).incomplete == "no span is that of a tool or a model"
    assert Trajectory.from_otlp(empty, incomplete="", stop_reason="s") == Trajectory(stop_reason="s")


def test_a_trace_is_shown_as_a_tree() -> None:
    spans = (
        Span("1", "root", "outside", attributes={"a": 1}),
        Span("2", "child", "1", error="off", attributes={"input": "i", "gen_ai.tool.call.arguments": "hidden"}),
        Span("3", "grandchild", "2", attributes={"gen_ai.tool.call.arguments": "shown"}),
        Span("4", "child", "1", error=""),
        Span("5", "second root"),
    )
    assert Trace("t", spans).text().split("\n") == [
        "- root",
        "    a: 1",
        "  - child (failed: off)",
        "      input: i",
        "    - grandchild",
        "        gen_ai.tool.call.arguments: shown",
        "  - child (failed: )",
        "- second root",
    ]
    plain = Trace("t", spans[:1]).plain()
    assert plain["trace_id"] == "t"
    assert plain["spans"][0] == {
        "span_id": "1", "name": "root", "parent_id": "outside", "start_ns": 0, "end_ns": 0, "kind": 1,
        "attributes": {"a": 1}, "events": (), "error": None,
    }  # fmt: skip
    long = "x" * 4_001
    shown = Trace("t", (Span("1", long, attributes={"a": long}, error=long),)).text().split("\n")
    assert [len(line) < limit for line, limit in zip(shown, (8_030, 4_020), strict=True)] == [True, True]
    chain = tuple(Span(str(number), "s", str(number - 1)) for number in range(1, 60))
    assert len(Trace("t", chain).text().split("\n")) == 51
    assert len(Trace("t", chain).text(100)) <= 100


def make_call(**fields: Any) -> ModelCall:
    return ModelCall("m", **fields)


@pytest.mark.parametrize(
    ("call", "steps"),
    [
        (make_call(messages=[{"role": "user", "content": "a"}], request={"input": "b"}), [Message("user", "a")]),
        (make_call(request={"input": "b"}), [Message("user", "b")]),
        (
            make_call(request={"input": ({"type": "reasoning", "summary": "c"}, {"x": 1}, 5)}),
            [Message("reasoning", "c")],
        ),
        (make_call(request={"input": 5}, response={"content": "d"}), [Message("assistant", "d")]),
        (make_call(response={"content": "d", "role": "user"}), [Message("user", "d")]),
        (make_call(response={"choices": [{"message": {"content": "e"}}]}), [Message("assistant", "e")]),
        (make_call(response={"choices": [{"message": {"role": "user", "content": "e"}}]}), [Message("user", "e")]),
        (make_call(response={"choices": [{"message": "x"}], "content": "d"}), []),
        (make_call(response={"choices": ["x"], "content": "d"}), [Message("assistant", "d")]),
        (make_call(response={"choices": [], "content": "d"}), [Message("assistant", "d")]),
        (make_call(response={"output": [{"role": "assistant", "content": "f"}, 5, {}]}), [Message("assistant", "f")]),
        (make_call(response={"output": 5}), []),
        (make_call(response={"reasoning": "x"}), []),
    ],
)
def test_the_calls_of_models_are_steps(call: ModelCall, steps: list[Any]) -> None:
    found = read_trace(TaskTrace((call,)), records_tools=True)
    assert found is not None
    assert (list(found.steps), found.incomplete) == (steps, "")


def test_a_task_that_records_tools_is_complete() -> None:
    silent = Span("1", "c", attributes={"gen_ai.operation.name": "chat"})
    stream = make_call(messages=[{"role": "user", "content": "a"}], request={"functions": [1]})
    for trace in (TaskTrace((), (silent,)), TaskTrace((stream,)), TaskTrace((), (Span("1", "x"),)), TaskTrace()):
        found = read_trace(trace, records_tools=True)
        assert found is not None
        assert found.incomplete == ""
    found = read_trace(TaskTrace((stream,)))
    assert found is not None
    assert found.incomplete == "the answer of a stream isn't recorded; record the calls of tools as spans"
    assert read_trace(TaskTrace((), (Span("1", "x"),))) is None


def test_a_later_request_repeats_all_messages_of_an_earlier_one() -> None:
    first, second = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
    stream = make_call(messages=[first], request={"tools": [1]})
    for later, is_known in (
        (make_call(messages=[first, second]), True),
        (make_call(messages=[first]), False),
        (make_call(messages=[second, first]), False),
    ):
        found = read_trace(TaskTrace((stream, make_call(response={"content": "x"}), later)))
        assert found is not None
        assert (found.incomplete == "") is is_known
    found = read_trace(TaskTrace((make_call(messages=[first, second]), stream)))
    assert found is not None
    assert found.incomplete


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a", Content("a")),
        (["a", {"text": "b"}, {"type": "output_text", "text": "c"}, {"type": None, "text": "d"}], Content("abcd")),
        ([{"type": "refusal", "refusal": "no"}], Content(refusal="no")),
        ([{"type": "thinking", "thinking": "a"}, {"type": "reasoning", "reasoning": "b"}], Content(reasoning="ab")),
        (
            [{"type": "reasoning_text", "text": "c"}, {"type": "reasoning", "summary": [{"text": "d"}]}],
            Content(reasoning="cd"),
        ),
        ([{"type": "image", "text": "x"}, 5], Content()),
        ([{"type": "text", "text": ["a", {"text": "b"}]}], Content("ab")),
        ({"text": "x"}, Content()),
        (None, Content()),
    ],
)
def test_the_content_of_an_answer(content: Any, expected: Content) -> None:
    assert read_content(content) == expected


def test_the_first_answer_of_a_chat_has_a_text_and_calls() -> None:
    function = {"name": "t", "arguments": "{}"}
    message = {"content": [{"text": "a"}], "tool_calls": [{"function": function}, {"function": 5}, {}, 5]}
    call = make_call(response={"choices": [{"message": message}, {"message": {"content": "b"}}]})
    assert (call.text, call.tool_calls) == ("a", [function])
    empty: tuple[dict[str, Any], ...] = ({}, *({"choices": each} for each in ([], 5, [5], [{"message": 5}])))
    for response in empty:
        assert (make_call(response=response).text, make_call(response=response).tool_calls) == ("", [])
    assert make_call(response={"choices": [{"message": {"tool_calls": {"function": function}}}]}).tool_calls == []


def test_a_task_sums_its_calls() -> None:
    first = make_call(input_tokens=1, output_tokens=20, cost=0.1, error="a")
    second = make_call(input_tokens=2, output_tokens=40, cost=0.2)
    spans = (Span("1", "x"), Span("2", "y", error="b"))
    trace = TaskTrace((first, second), spans)
    assert (trace.input_tokens, trace.output_tokens) == (3, 60)
    assert trace.cost == pytest.approx(0.3)
    assert (make_call().input_tokens, make_call().output_tokens, make_call().duration_s) == (0, 0, 0.0)
    assert trace.errors == ("a", "b")
    assert TaskTrace((first, make_call())).cost is None
    assert (TaskTrace().cost, TaskTrace().errors) == (0, ())
