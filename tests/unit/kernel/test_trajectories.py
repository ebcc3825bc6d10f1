"""Trajectories: the record, and what is read from messages and spans."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.kernel.types.events import CaseFinished, CaseOutput, CaseStarted, SuiteStarted, ToolCalled
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.runs.reducer import RunReducer
from scoregate.kernel.types.task_trace import ModelCall, TaskTrace
from scoregate.kernel.types.trace import Span
from scoregate.kernel.types.trajectories.messages import StepReader, read_messages
from scoregate.kernel.types.trajectories.spans import read_spans
from scoregate.kernel.types.trajectories.trace import read_trace
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import MOST_STEPS, Message, Step, ToolCall

OPENAI = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "Hours?"}, {"type": "image_url", "image_url": {"url": "data:…"}}],
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": "hours"}'}},
            {"id": "2", "type": "function", "function": {"name": "log", "arguments": "no JSON"}},
        ],
    },
    {"role": "tool", "tool_call_id": "2", "content": "ok"},
    {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "at 9"}]},
    {"role": "assistant", "content": "At nine."},
]
RESPONSES = [
    {"role": "user", "content": "Hours?"},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look it up."}]},
    {"type": "function_call", "call_id": "c", "name": "search", "arguments": '{"q": "hours"}'},
    {"type": "function_call_output", "call_id": "c", "output": "at 9"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "At nine."}]},
]
ANTHROPIC = [
    {"role": "user", "content": "Hours?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Look it up."},
            {"type": "text", "text": "I search."},
            {"type": "tool_use", "id": "t", "name": "search", "input": {"q": "hours"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": "offline"}]},
    {"role": "assistant", "content": "I don't know."},
]


def test_messages_of_each_api_are_steps_and_calls_have_results() -> None:
    assert read_messages(OPENAI) == [
        Message("system", "Be brief."),
        Message("user", "Hours?\n[image_url]"),
        ToolCall("search", {"q": "hours"}, "at 9"),
        ToolCall("log", {"": "no JSON"}, "ok"),
        Message("assistant", "At nine."),
    ]
    assert read_messages(RESPONSES) == [
        Message("user", "Hours?"),
        Message("reasoning", "Look it up."),
        ToolCall("search", {"q": "hours"}, "at 9"),
        Message("assistant", "At nine."),
    ]
    assert read_messages(ANTHROPIC) == [
        Message("user", "Hours?"),
        Message("reasoning", "Look it up."),
        Message("assistant", "I search."),
        ToolCall("search", {"q": "hours"}, None, "offline"),
        Message("assistant", "I don't know."),
    ]


def test_sdk_objects_are_read_and_other_values_refused_with_position() -> None:
    message = SimpleNamespace(role="assistant", content="At nine.", tool_calls=None)
    assert read_messages([message]) == [Message("assistant", "At nine.")]
    langchain = SimpleNamespace(type="ai", content="", tool_calls=[{"name": "search", "args": {"q": 1}, "id": "1"}])
    result = SimpleNamespace(type="tool", content="at 9", tool_call_id="1", status="success")
    assert read_messages([langchain, result]) == [ToolCall("search", {"q": 1}, "at 9")]
    for wrong in ("text", 1, None, {"content": "x"}, ["role"]):
        with pytest.raises(TypeError, match="message 2 is not a message with a role or a type"):
            read_messages([{"role": "user", "content": ""}, wrong])


def test_tools_run_by_the_provider_are_calls() -> None:
    items = [
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "hours"}},
        {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "s", "output": "README.md"},
        {"type": "file_search_call", "id": "f", "queries": ["a"], "results": [{"text": "b"}], "status": "failed"},
        {"role": "assistant", "content": None, "function_call": {"name": "search", "arguments": '{"q": 1}'}},
        {"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "a", "name": "web_search", "input": {"query": "hours"}},
            {"type": "web_search_tool_result", "tool_use_id": "a", "content": {
                "type": "web_search_tool_result_error", "error_code": "max_uses_exceeded",
            }},
        ]},
    ]  # fmt: skip
    assert read_messages(items) == [
        ToolCall("web_search", {"type": "search", "query": "hours"}),
        ToolCall("shell", {"commands": ["ls"]}, "README.md"),
        ToolCall("file_search", {"queries": ["a"]}, error="failed"),
        ToolCall("search", {"q": 1}),
        ToolCall("web_search", {"query": "hours"}, error="[web_search_tool_result_error]"),
    ]


def test_a_result_without_a_call_is_kept() -> None:
    assert read_messages([{"role": "tool", "tool_call_id": "?", "content": "x"}]) == [ToolCall("(unknown)", {}, "x")]
    gemini = [
        {
            "role": "assistant",
            "tool_calls": [{"function": {"name": "a"}}, {"function": {"name": "b", "arguments": {}}}],
        },
        {"role": "tool", "name": "b", "content": "2"},
        {"role": "tool", "name": "a", "content": "1"},
    ]
    assert read_messages(gemini) == [ToolCall("a", {}, "1"), ToolCall("b", {}, "2")]


def test_a_request_repeats_the_conversation_and_only_its_new_messages_count() -> None:
    reader = StepReader()
    reader.add_exchange(OPENAI[:2], OPENAI[2:3])
    reader.add_exchange(OPENAI[:5], OPENAI[5:])
    assert reader.steps == read_messages(OPENAI)
    # The same answer to the same request is a step of its own.
    reader.add_exchange(OPENAI[:5], OPENAI[5:])
    assert reader.steps == [*read_messages(OPENAI), Message("assistant", "At nine.")]


def span(number: int, parent: int, start: int, **attributes: Any) -> Span:
    return Span(str(number), "span", str(parent), start, start + 2_000_000_000, attributes=attributes)


def genai_span(number: int, parent: int, start: int, operation: str, **values: Any) -> Span:
    attributes = {f"gen_ai.{name.replace('__', '.')}": value for name, value in values.items()}
    return span(number, parent, start, **{"gen_ai.operation.name": operation, **attributes})


def test_genai_spans_are_read() -> None:
    asked = [{"role": "user", "parts": [{"type": "text", "content": "Hours?"}]}]
    answered = [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "search", "arguments": {"q": 1}}]}
    ]
    response = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "at 9"}]}]
    final = [
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "Nine."}]}
    ]
    chats = [
        genai_span(2, 1, 20, "chat", input__messages=json.dumps(asked), output__messages=json.dumps(answered)),
        genai_span(
            4, 1, 40, "chat",
            input__messages=json.dumps([*asked, *answered, *response]), output__messages=json.dumps(final),
        ),
    ]  # fmt: skip
    messages = [Message("user", "Hours?")]
    end = [Message("reasoning", "hm"), Message("assistant", "Nine.")]
    assert read_spans(chats) == [*messages, ToolCall("search", {"q": 1}, "at 9"), *end]
    tool = genai_span(
        3, 1, 30, "execute_tool", tool__name="search", tool__call__arguments='{"q": 1}', tool__call__result="at 9"
    )
    assert read_spans([chats[1], tool, chats[0]]) == [
        *messages,
        ToolCall("search", {"q": 1}, "at 9", duration_s=2.0),
        *end,
    ]


def test_tools_of_the_provider_have_no_own_span() -> None:
    parts = [
        {"type": "server_tool_call", "id": "1", "name": "web_search", "server_tool_call": {"arguments": {"q": "x"}}},
        {"type": "server_tool_call_response", "id": "1", "server_tool_call_response": {"response": "y"}},
        {"type": "tool_call", "id": "2", "name": "log", "arguments": {}},
    ]
    chat = genai_span(2, 1, 20, "chat", output__messages=json.dumps([{"role": "assistant", "parts": parts}]))
    tool = genai_span(3, 1, 30, "execute_tool", tool__name="log")
    expected = [ToolCall("web_search", {"q": "x"}, "y"), ToolCall("log", duration_s=2.0)]
    assert read_spans([chat, tool]) == expected


def test_spans_of_models_without_content_do_not_show_that_no_tool_was_called() -> None:
    silent, tool = genai_span(2, 1, 20, "chat"), genai_span(3, 1, 30, "execute_tool", tool__name="log")
    answered = genai_span(
        4, 1, 40, "chat", output__messages=json.dumps([{"role": "assistant", "parts": []}, {"role": "x"}])
    )
    part = {"type": "tool_call", "id": "1", "name": "search", "arguments": {}}
    calling = genai_span(5, 1, 10, "chat", output__messages=json.dumps([{"role": "assistant", "parts": [part]}]))
    flat = {"openinference.span.kind": "LLM", "output.value": "done"}
    complete = {**flat, "llm.output_messages.0.message.role": "assistant"}
    for spans, reason in (
        ([silent], "the span of a model has no answer"),
        ([answered, silent], "1 of 2 spans of models have no answer"),
        ([span(1, 0, 1, **flat)], "the span of a model has no answer"),
        ([span(1, 0, 1, **complete), answered], ""),
        ([replace(silent, error="offline"), answered], ""),
        ([silent, tool], ""),
        ([calling, silent], "1 of 2 spans of models have no answer"),
    ):
        trace = read_trace(TaskTrace((), tuple(spans)))
        assert trace is not None
        assert trace.incomplete.startswith(reason), spans
        assert bool(trace.incomplete) is bool(reason)
    assert read_trace(TaskTrace((), (span(1, 0, 1),))) is None


def test_the_answer_of_a_stream_is_known_only_if_a_later_request_repeats_it() -> None:
    tools = {"tools": [{"type": "function"}]}
    first, second = ModelCall("m", messages=OPENAI[:2], request=tools), ModelCall("m", messages=OPENAI[:5])
    for calls, is_known in (
        ((first,), False),
        ((first, second), True),
        ((first, replace(second, request=tools)), False),
        ((replace(first, request={}),), True),
        ((replace(first, error="offline"),), True),
    ):
        trace = read_trace(TaskTrace(calls))
        assert trace is not None
        assert (trace.incomplete == "") is is_known, calls


def test_tools_that_the_provider_ran_are_missed_if_spans_name_others() -> None:
    tool = genai_span(3, 1, 30, "execute_tool", tool__name="log")
    for response in (
        {"output": [{"type": "web_search_call", "id": "w"}]},
        {"content": [{"type": "server_tool_use", "id": "a", "name": "web_search", "input": {}}]},
    ):
        trace = read_trace(TaskTrace((ModelCall("m", response=response),), (tool,)))
        assert trace is not None
        assert trace.incomplete == "the provider of the model ran tools, which have no spans: web_search"
    plain = {"output": [{"type": "function_call", "call_id": "c", "name": "log"}, {"type": "message"}], "content": "a"}
    trace = read_trace(TaskTrace((ModelCall("m", response=plain),), (tool,)))
    assert trace is not None
    assert trace.incomplete == ""


def test_spans_below_another_agent_are_of_a_sub_agent() -> None:
    spans = [
        genai_span(1, 0, 0, "invoke_agent", agent__name="main"),
        genai_span(2, 1, 10, "execute_tool", tool__name="plan"),
        genai_span(3, 2, 20, "invoke_agent", agent__name="helper"),
        genai_span(4, 3, 30, "execute_tool", tool__name="search"),
        genai_span(5, 4, 35, "execute_tool", tool__name="fetch"),
    ]
    trajectory = Trajectory(read_spans(spans))
    assert [(call.name, call.agent) for call in trajectory.tool_calls] == [
        ("plan", ""), ("search", "helper"), ("fetch", "helper"),
    ]  # fmt: skip
    assert trajectory.agents == ["helper"]


def test_openinference_is_read() -> None:
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.contents.0.message_content.text": "Hours?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "search",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"q": 1}',
    }
    chat = span(1, 0, 10, **attributes)
    assert read_spans([chat]) == [Message("user", "Hours?"), ToolCall("search", {"q": 1})]
    values = {"tool.name": "search", "input.value": '{"q": 1}', "output.value": "at 9"}
    tool = span(2, 1, 20, **{"openinference.span.kind": "TOOL"}, **values)
    assert read_spans([tool, chat])[1:] == [ToolCall("search", {"q": 1}, "at 9", duration_s=2.0)]


def test_older_conventions_have_an_event_for_each_message() -> None:
    events = (
        {"name": "gen_ai.user.message", "attributes": {"content": "Hours?"}},
        {"name": "gen_ai.choice", "attributes": {"message": '{"content": "Nine."}'}},
        {"name": "exception", "attributes": {}},
    )
    spans = read_spans([Span("1", "chat", attributes={"gen_ai.operation.name": "chat"}, events=events)])
    assert spans == [Message("user", "Hours?"), Message("assistant", "Nine.")]


def test_the_calls_of_models_are_read_if_no_span_names_a_tool() -> None:
    calls = (
        ModelCall("m", messages=OPENAI[:2], response={"choices": [{"message": OPENAI[2]}]}),
        ModelCall("m", messages=OPENAI[:5], response={"choices": [{"message": OPENAI[5]}]}),
    )
    trajectory = read_trace(TaskTrace(calls))
    assert trajectory is not None
    assert list(trajectory.steps) == read_messages(OPENAI)
    responses = ModelCall("m", request={"input": "Hours?"}, response={"output": RESPONSES[1:3]})
    trace = read_trace(TaskTrace((responses,)))
    assert trace is not None
    assert list(trace.steps) == [
        Message("user", "Hours?"),
        Message("reasoning", "Look it up."),
        ToolCall("search", {"q": "hours"}),
    ]
    assert read_trace(TaskTrace()) is None


values = st.recursive(
    st.none() | st.booleans() | st.integers(-100, 100) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
steps: st.SearchStrategy[Step] = st.one_of(
    st.builds(Message, st.sampled_from(["user", "assistant", "system", "reasoning"]), st.text(), st.text(max_size=9)),
    st.builds(
        ToolCall, st.text(max_size=9), st.dictionaries(st.text(max_size=5), values, max_size=3), values,
        st.none() | st.text(), st.none() | st.floats(0, 9), st.none() | st.integers(0, 9), st.text(max_size=9),
    ),
)  # fmt: skip


@given(
    st.lists(steps, max_size=5).map(tuple), st.none() | st.lists(st.text(max_size=9), max_size=3), st.text(max_size=9)
)
def test_a_record_round_trips(steps: tuple[Step, ...], files: list[str] | None, stop: str) -> None:
    trajectory = Trajectory(steps, changed_files=files, stop_reason=stop)
    assert Trajectory.read(json.loads(dump(trajectory.plain()))) == trajectory


@given(values | st.dictionaries(st.sampled_from(["type", "role", "content", "tool_calls", "parts", "id"]), values))
def test_no_value_breaks_the_readers(value: Any) -> None:
    Trajectory.read({"type": "trajectory", "steps": [value, {"tool": "x", "arguments": value, "duration_s": value}]})
    read_messages(
        [{"role": "assistant", "content": value, "tool_calls": [value]}, {"type": "function_call", "output": value}]
    )
    attributes = {"gen_ai.input.messages": dump([value]).decode(), "gen_ai.tool.call.arguments": dump(value).decode()}
    for operation in ("chat", "execute_tool", "invoke_agent"):
        read_spans([Span("1", "x", attributes={"gen_ai.operation.name": operation, **attributes})])


def test_a_record_is_bounded() -> None:
    call = ToolCall("t" * 1_000, {"a": "x" * 100_000, "b": ["y" * 100_000]}, "z" * 100_000)
    steps = [call] * (MOST_STEPS + 100)
    plain = Trajectory(steps, changed_files=["f"] * 5_000).plain()
    assert (len(plain["steps"]), plain["left_out"]) == (MOST_STEPS, 100)
    assert len(dump(plain)) < 8_000_000
    assert len(Trajectory(steps).text(2_000)) <= 2_000


def test_the_output_is_the_last_message_of_the_agent_itself() -> None:
    steps = [Message("assistant", "a"), ToolCall("t"), Message("assistant", "b", agent="helper")]
    assert Trajectory(steps).final_output == "a"
    assert Trajectory(steps, output={"n": 1}).final_output == {"n": 1}
    assert Trajectory([]).final_output == ""


def test_calls_that_a_suite_reports_one_by_one_become_the_trajectory() -> None:
    reducer = RunReducer()
    of_case = {"suite": "s", "case": "a"}
    call = ToolCalled(**of_case, name="search", arguments={"q": 1}, result="at 9", duration_ms=500)
    events = [SuiteStarted(suite="s"), CaseStarted(**of_case), call, ToolCalled(**of_case, name="log", error="off")]
    for event in (*events, CaseOutput(**of_case, output="Nine.")):
        reducer.apply("log", None, event)
    case = reducer.apply("log", None, CaseFinished(**of_case))
    assert case is not None
    found = Trajectory.read(case.trace)
    assert found is not None
    assert list(found.steps) == [ToolCall("search", {"q": 1}, "at 9", duration_s=0.5), ToolCall("log", error="off")]


def test_too_many_reported_calls_are_counted_and_a_trace_of_another_form_stays() -> None:
    reducer = RunReducer()
    for number in range(MOST_STEPS + 5):
        reducer.apply("log", None, ToolCalled(suite="s", case="a", name=str(number)))
    case = reducer.apply("log", None, CaseFinished(suite="s", case="a"))
    assert case is not None
    found = Trajectory.read(case.trace)
    assert found is not None
    assert (len(found.steps), found.left_out) == (MOST_STEPS, 5)
    reducer.apply("log", None, CaseOutput(suite="s", case="b", trace={"spans": []}))
    reducer.apply("log", None, ToolCalled(suite="s", case="b", name="x"))
    other = reducer.apply("log", None, CaseFinished(suite="s", case="b"))
    assert other is not None
    assert other.trace == {"spans": []}
