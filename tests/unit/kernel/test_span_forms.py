"""What each attribute and event of a span means for the steps that are read from it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoregate.kernel.types.trace import Span
from scoregate.kernel.types.trajectories.spans import explain_unseen_calls, has_tools_or_chats, read_spans
from scoregate.kernel.types.trajectory_steps import Message, Step, ToolCall


def make_span(
    operation: str = "chat", *, number: int = 1, parent: int = 0, error: str | None = None, **values: Any
) -> Span:
    attributes = {f"gen_ai.{name.replace('__', '.')}": value for name, value in values.items()}
    attributes["gen_ai.operation.name"] = operation
    return Span(str(number), "span", str(parent), number, number + 10**9, attributes=attributes, error=error)


def make_flat(kind: str = "LLM", **attributes: Any) -> Span:
    return Span("1", "span", attributes={"openinference.span.kind": kind, **attributes})


def read_parts(*parts: Any, role: str | None = "assistant") -> list[Step]:
    message: dict[str, Any] = {"parts": parts} if role is None else {"role": role, "parts": parts}
    return read_spans([make_span(output__messages=json.dumps([message]))])


@pytest.mark.parametrize("operation", ["chat", "generate_content", "text_completion"])
def test_each_operation_of_a_model_is_a_chat(operation: str) -> None:
    span = make_span(operation, output__messages='[{"role": "assistant", "content": "x"}]')
    assert read_spans([span]) == [Message("assistant", "x")]
    assert has_tools_or_chats([span])


def test_spans_of_other_kinds_are_ignored() -> None:
    for span in (make_span("embeddings", output__messages='[{"role": "user"}]'), Span("1", "x"), make_flat("CHAIN")):
        assert read_spans([span]) == []
        assert not has_tools_or_chats([span])
    assert has_tools_or_chats([Span("1", "x"), make_span("execute_tool")])
    assert has_tools_or_chats([make_flat("tool")])
    assert not has_tools_or_chats([])


def test_spans_are_read_in_the_order_of_their_start() -> None:
    tools = [make_span("execute_tool", number=number, tool__name=str(number)) for number in (3, 1, 2)]
    assert [step.name for step in read_spans(tools) if isinstance(step, ToolCall)] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("attributes", "name", "arguments", "result"),
    [
        ({"gen_ai.tool.name": "a", "tool.name": "b"}, "a", {}, None),
        ({"tool.name": "b"}, "b", {}, None),
        ({}, "span", {}, None),
        ({"gen_ai.tool.call.arguments": "{}", "tool.parameters": '{"a": 1}'}, "span", {}, None),
        ({"tool.parameters": '{"a": 1}', "input.value": '{"a": 2}', "input": "z"}, "span", {"a": 1}, None),
        ({"input.value": '{"a": 2}', "input": "z"}, "span", {"a": 2}, None),
        ({"input": "z"}, "span", {"": "z"}, None),
        ({"gen_ai.tool.call.result": "", "output.value": "b", "output": "c"}, "span", {}, ""),
        ({"output.value": "b", "output": "c"}, "span", {}, "b"),
        ({"output": "c"}, "span", {}, "c"),
        ({"output": "5"}, "span", {}, "5"),
        ({"output": ' {"a": 1}'}, "span", {}, {"a": 1}),
        ({"output": "[1]"}, "span", {}, [1]),
        ({"output": "[1"}, "span", {}, "[1"),
        ({"output": "[" * 100_000}, "span", {}, "[" * 100_000),
        ({"output": 5}, "span", {}, 5),
        ({"output": ("a",)}, "span", {}, ("a",)),
    ],
)
def test_a_tool_has_the_first_known_attribute(
    attributes: dict[str, Any], name: str, arguments: dict[str, Any], result: Any
) -> None:
    span = Span("1", "span", "", 5, 5 + 10**9, attributes={"gen_ai.operation.name": "execute_tool", **attributes})
    assert read_spans([span]) == [ToolCall(name, arguments, result, duration_s=1.0)]


def test_a_tool_has_the_error_of_its_span_and_no_negative_duration() -> None:
    span = Span("1", "t", "", 9, 5, attributes={"gen_ai.operation.name": "execute_tool"}, error="off")
    assert read_spans([span]) == [ToolCall("t", error="off", duration_s=0.0)]


def test_parts_of_a_message_are_steps() -> None:
    assert read_parts(
        {"type": "text", "content": "a"},
        {"content": "b"},
        {"type": "reasoning", "content": "c"},
        {"type": "tool_call", "id": "1", "name": "t", "arguments": {"q": 1}},
        {"type": "tool_call_response", "id": "1", "response": None, "result": "unused"},
        {"type": "tool_call", "id": "2", "name": "u"},
        {"type": "tool_call_response", "id": "2", "result": "r"},
        "no part",
    ) == [
        Message("assistant", "a"),
        Message("assistant", "b"),
        Message("reasoning", "c"),
        ToolCall("t", {"q": 1}),
        ToolCall("u", {}, "r"),
    ]
    assert read_parts({"content": "a"}, role="system") == [Message("system", "a")]
    assert read_parts({"content": "a"}, role=None) == [Message("user", "a")]


def test_at_most_a_thousand_parts_of_a_message_are_read() -> None:
    assert len(read_parts(*({"content": str(number)} for number in range(1_002)))) == 1_000


def test_tools_of_the_provider_have_their_values_in_a_field_or_as_fields() -> None:
    for call, response, expected in (
        ({"arguments": {"q": 1}, "type": "x"}, {"response": "r", "more": 1}, ToolCall("t", {"q": 1}, "r")),
        ({"q": 1, "type": "x"}, {"n": 2, "type": "x"}, ToolCall("t", {"q": 1}, {"n": 2})),
        ("raw", "r", ToolCall("t", {"": "raw"}, "r")),
    ):
        parts = (
            {"type": "server_tool_call", "id": "1", "name": "t", "server_tool_call": call},
            {"type": "server_tool_call_response", "id": "1", "server_tool_call_response": response},
        )
        assert read_parts(*parts) == [expected]


def test_system_instructions_come_first() -> None:
    instructions = '[{"type": "text", "content": "Be brief."}]'
    asked = '[{"role": "user", "content": "Hi"}]'
    span = make_span(system_instructions=instructions, input__messages=asked)
    assert read_spans([span]) == [Message("system", "Be brief."), Message("user", "Hi")]
    assert read_spans([make_span(system_instructions="Be brief.", input__messages=asked)]) == [Message("user", "Hi")]
    for wrong in ('{"role": "user", "content": "Hi"}', '["Hi", 5]', "Hi"):
        assert read_spans([make_span(input__messages=wrong)]) == []
    # Attributes may be values instead of JSON texts.
    assert read_spans([make_span(input__messages=[{"content": "Hi"}])]) == [Message("user", "Hi")]


def test_messages_of_tools_with_spans_of_their_own_are_left_out() -> None:
    request = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "1", "name": "t"}]},
        {"role": "tool", "tool_call_id": "1", "content": "r"},
        {"role": "function", "name": "t", "content": "r"},
    ]
    chat = make_span(number=1, input__messages=json.dumps(request), output__messages="[]")
    tool = make_span("execute_tool", number=2, tool__name="t")
    assert read_spans([chat, tool]) == [
        Message("user", "Hi"),
        Message("assistant", "I look."),
        ToolCall("t", duration_s=1.0),
    ]
    assert read_spans([chat])[2:] == [ToolCall("t", {}, "r"), ToolCall("t", {}, "r")]


def test_the_outermost_agent_is_read_without_spans_of_models() -> None:
    messages: dict[str, Any] = {
        "input__messages": '[{"role": "user", "content": "Hi"}]',
        "output__messages": '[{"role": "assistant", "content": "Bye"}]',
    }
    outer, inner = (
        make_span("invoke_agent", number=1, **messages),
        make_span("invoke_agent", number=2, parent=1, **messages),
    )
    tool = make_span("execute_tool", number=3, parent=2)
    call = ToolCall("span", duration_s=1.0, agent="span")
    assert read_spans([tool, inner, outer]) == [Message("user", "Hi"), call, Message("assistant", "Bye")]
    chat = make_span(number=4, output__messages='[{"role": "assistant", "content": "x"}]')
    assert read_spans([chat, outer]) == [Message("assistant", "x")]


def test_a_sub_agent_is_named_by_its_attributes_or_its_span() -> None:
    for attributes, name in (
        ({"gen_ai.agent.name": "a", "agent.name": "b"}, "a"),
        ({"agent.name": "b"}, "b"),
        ({}, "inner"),
    ):
        kind = {"gen_ai.operation.name": "invoke_agent"}
        spans = [
            Span("1", "outer", "", 1, 1, attributes=kind),
            Span("2", "between", "1", 2, 2),
            Span("3", "inner", "2", 3, 3, attributes={**kind, **attributes}),
            make_span("execute_tool", number=4, parent=3),
            make_span("execute_tool", number=5, parent=1),
        ]
        assert [step.agent for step in read_spans(spans)] == [name, ""]


def test_spans_that_are_their_own_parents_have_no_agent_above() -> None:
    spans = [make_span("other", number=1, parent=2), make_span("other", number=2, parent=1)]
    agent = make_span("invoke_agent", number=3, parent=2, agent__name="a")
    tool = make_span("execute_tool", number=4, parent=3)
    assert [step.agent for step in read_spans([*spans, agent, tool])] == [""]


def test_messages_of_openinference_are_numbered_attributes() -> None:
    prefix = "llm.input_messages"
    attributes = {
        f"{prefix}.10.message.content": "last",
        f"{prefix}.2.message.role": "assistant",
        f"{prefix}.2.message.contents.1.message_content.text": "b",
        f"{prefix}.2.message.contents.0.message_content.text": "a",
        f"{prefix}.2.message.contents.x.message_content.text": "c",
        f"{prefix}.2.message.tool_calls.1.tool_call.function.name": "u",
        f"{prefix}.2.message.tool_calls.0.tool_call.function.name": "t",
        f"{prefix}.2.message.tool_calls.0.tool_call.function.arguments": '{"q": 1}',
        f"{prefix}.2.message.tool_calls.0.tool_call.function.odd.name": "z",
        f"{prefix}.2.message.tool_calls.0.tool_call.id": "1",
        f"{prefix}.2.message.tool_calls.0.tool_call.odd.name": "z",
        f"{prefix}.2.message.tool_calls.x.tool_call.function.name": "z",
        f"{prefix}.3.message.role": "tool",
        f"{prefix}.3.message.tool_call_id": "1",
        f"{prefix}.3.message.content": "r",
        f"{prefix}.4.message.role": "tool",
        f"{prefix}.4.message.name": "u",
        f"{prefix}.4.message.content": "s",
        f"{prefix}.x.message.content": "no number",
        f"{prefix}.5": "no field",
        f"{prefix}.6.message": "no field",
        f"{prefix}x.7.message.content": "another attribute",
        "7.message.content.x": "another attribute",
        "llm.model": "m",
    }
    expected = [
        Message("assistant", "a\nb"),
        ToolCall("t", {"q": 1}, "r"),
        ToolCall("u", {}, "s"),
        Message("user", "last"),
    ]
    assert read_spans([make_flat(**attributes)]) == expected
    answer = {name.replace("input", "output"): value for name, value in attributes.items()}
    assert read_spans([make_flat("llm", **answer)]) == expected


def test_at_most_a_thousand_messages_of_openinference_are_read() -> None:
    attributes = {f"llm.input_messages.{number}.message.content": str(number) for number in range(1_002)}
    steps = read_spans([make_flat(**attributes)])
    assert [step.text for step in steps if isinstance(step, Message)] == [str(number) for number in range(1_000)]


def test_openinference_without_messages_has_two_values() -> None:
    values: dict[str, Any] = {"input.value": "Hi", "output.value": 5}
    assert read_spans([make_flat(**values)]) == [Message("user", "Hi"), Message("assistant", "5")]
    assert read_spans([make_flat(**{"input.value": "Hi"})]) == [Message("user", "Hi")]
    assert read_spans([make_flat(**values, **{"llm.output_messages.0.message.content": "x"})]) == [Message("user", "x")]
    assert read_spans([make_flat("agent", **values)]) == [Message("user", "Hi"), Message("assistant", "5")]


def test_events_of_older_conventions_are_messages() -> None:
    call = [{"id": "1", "function": {"name": "t"}}]
    events = (
        {"name": "gen_ai.system.message", "attributes": {"content": "Be brief."}},
        {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": json.dumps(call)}},
        {"name": "gen_ai.tool.message", "attributes": {"id": "1", "content": "r"}},
        {"name": "gen_ai.user.message", "attributes": None},
        {"name": "gen_ai.other", "attributes": {"content": "x"}},
        {"name": "other.user.message", "attributes": {"content": "x"}},
        {"name": "gen_ai.choice", "attributes": {"message": "plain"}},
        {"name": "gen_ai.choice", "attributes": {"message": {"role": "user", "content": "y"}}},
    )
    assert read_spans([Span("1", "c", attributes={"gen_ai.operation.name": "chat"}, events=events)]) == [
        Message("system", "Be brief."),
        ToolCall("t", {}, "r"),
        Message("assistant", "plain"),
        Message("user", "y"),
    ]


def test_only_answers_that_show_calls_tell_that_none_are_missing() -> None:
    answered, silent = make_span(output__messages='[{"role": "x"}]'), make_span()
    failed, tool = make_span(error="off"), make_span("execute_tool")
    flat = {"llm.output_messages.0.message.role": "assistant"}
    for spans in ([], [answered], [failed], [silent, tool], [make_flat(**flat)], [answered, failed]):
        assert explain_unseen_calls(spans) == ""
    for spans, start in (
        ([silent], "the span of a model has no answer"),
        ([silent, failed], "1 of 2 spans of models have no answer"),
        ([silent, silent, answered, Span("1", "x")], "2 of 3 spans of models have no answer"),
        ([make_flat(**{"output.value": "x"})], "the span of a model has no answer"),
        ([make_flat(**{"llm.output_messages.0": "x"})], "the span of a model has no answer"),
        ([make_flat(**{"llm.input_messages.0.message.role": "user"})], "the span of a model has no answer"),
        ([make_span(input__messages='[{"role": "x"}]')], "the span of a model has no answer"),
    ):
        assert explain_unseen_calls(spans).startswith(f"{start}, and no span is that of a tool; let the instrument")
