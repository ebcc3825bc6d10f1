"""What each field of a message means for the steps that are read from it."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from scoregate.kernel.types.trajectories.messages import StepReader, find_provider_tool, read_arguments, read_messages
from scoregate.kernel.types.trajectory_steps import Message, Step, ToolCall


def read_chat(content: Any, role: str = "assistant", **fields: Any) -> list[Step]:
    return read_messages([{"role": role, "content": content, **fields}])


def read_result(content: Any, **fields: Any) -> Step:
    call = {"type": "function_call", "call_id": "c", "name": "t"}
    (step,) = read_messages([call, {"role": "tool", "tool_call_id": "c", "content": content, **fields}])
    return step


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("user", "user"),
        ("human", "user"),
        ("assistant", "assistant"),
        ("ai", "assistant"),
        ("model", "assistant"),
        ("system", "system"),
        ("developer", "system"),
        ("narrator", "user"),
    ],
)
def test_the_roles_of_every_api_are_four(role: str, expected: str) -> None:
    assert read_chat("x", role) == [Message(expected, "x")]  # type: ignore[arg-type]


def test_langchain_names_the_role_as_the_type() -> None:
    messages = [{"type": kind, "content": kind} for kind in ("human", "ai", "system", "tool")]
    assert read_messages(messages) == [
        Message("user", "human"),
        Message("assistant", "ai"),
        Message("system", "system"),
        ToolCall("(unknown)", {}, "tool"),
    ]
    assert read_messages([{"type": "ai", "role": "user", "content": "x"}]) == [Message("user", "x")]
    # Items of other types, such as `message_start` in a stream, are no messages.
    assert read_messages([{"type": "other", "content": "x"}, {"type": 5, "content": "x"}]) == []


def test_a_message_with_a_role_or_a_type_is_accepted_and_its_position_named_otherwise() -> None:
    for position, messages in ((1, [{"content": "x"}]), (3, [{"role": "user"}, {"type": "reasoning"}, {}])):
        with pytest.raises(TypeError, match=f"message {position} is not a message"):
            read_messages(messages)
    with pytest.raises(TypeError) as exc_info:
        read_messages([{"content": "x" * 500}])
    assert len(str(exc_info.value)) < 200


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "server_tool_use", "name": "a"}, "a"),
        ({"type": "mcp_tool_use", "name": "b"}, "b"),
        ({"type": "mcp_call", "name": "c"}, "c"),
        ({"type": "web_search_call", "name": "x"}, "web_search"),
        ({"type": "file_search_call"}, "file_search"),
        ({"type": "code_interpreter_call"}, "code_interpreter"),
        ({"type": "image_generation_call"}, "image_generation"),
        ({"type": "tool_search_call"}, "tool_search"),
        # Run by the program, which may have spans of it.
        ({"type": "local_shell_call"}, ""),
        ({"type": "function_call", "name": "d"}, ""),
        ({"name": "e"}, ""),
        ("web_search_call", ""),
        (None, ""),
    ],
)
def test_the_tools_of_providers_are_known_by_the_type_of_the_part(part: Any, expected: str) -> None:
    assert find_provider_tool(part) == expected


def test_a_call_of_the_responses_api_has_its_result_and_error() -> None:
    for kind in ("function_call", "custom_tool_call", "mcp_call"):
        item: dict[str, Any] = {
            "type": kind,
            "id": "i",
            "call_id": "c",
            "name": "t",
            "arguments": '{"a": 1}',
            "input": "unused",
        }
        assert read_messages([item]) == [ToolCall("t", {"a": 1})]
        # An output names the call by `call_id`, which comes before `id`.
        assert read_messages([item, {"type": "x_call_output", "call_id": "c", "id": "?", "output": 5}]) == [
            ToolCall("t", {"a": 1}, 5)
        ]
    for error, expected in (("", None), (None, None), ("off", "off"), ({"code": 7}, '{"code":7}')):
        item = {"type": "mcp_call", "id": "i", "name": "t", "input": "raw", "output": "r", "error": error}
        assert read_messages([item]) == [ToolCall("t", {"": "raw"}, "r", expected)]
    by_id = [{"type": "mcp_call", "id": "i"}, {"type": "mcp_call_output", "id": "i", "output": "r"}]
    assert read_messages(by_id) == [ToolCall("(no name)", {}, "r")]


def test_an_item_of_a_tool_of_the_provider_has_its_fields_as_arguments() -> None:
    known = {"id": "i", "call_id": "c", "status": "completed", "error": None}
    for key in ("output", "outputs", "result", "results"):
        item: dict[str, Any] = {"type": "x_call", **known, "code": "1+1", "mode": None, key: 2}
        assert read_messages([item]) == [ToolCall("x", {"code": "1+1"}, 2)]
    for key in ("action", "operation"):
        item = {"type": "x_call", **known, "code": "1+1", key: {"type": "run"}}
        assert read_messages([item]) == [ToolCall("x", {"type": "run"})]
    both: dict[str, Any] = {
        "type": "x_call",
        "action": None,
        "operation": "b",
        "output": None,
        "outputs": [],
        "result": 3,
    }
    assert read_messages([both]) == [ToolCall("x", {"": "b"}, [])]
    failed: dict[str, Any] = {"type": "x_call", "status": "failed", "output": "half", "q": 1}
    assert read_messages([failed]) == [ToolCall("x", {"q": 1}, None, "failed")]


def test_an_item_of_a_tool_of_the_provider_gets_a_later_output() -> None:
    for ids, named in (({"call_id": "c", "id": "i"}, "c"), ({"id": "i"}, "i")):
        items = [
            {"type": "x_call", **ids},
            {"type": "y_call"},
            {"type": "x_call_output", "call_id": named, "output": 1},
        ]
        assert read_messages(items) == [ToolCall("x", {}, 1), ToolCall("y")]


def test_reasoning_is_a_step_if_it_has_a_text() -> None:
    for item in (
        {"type": "reasoning", "summary": "Hm."},
        {"type": "reasoning", "summary": [], "content": [{"type": "text", "text": "Hm."}]},
        {"role": "assistant", "reasoning_content": "Hm.", "reasoning": "other"},
        {"role": "assistant", "reasoning": "Hm.", "content": None},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]},
    ):
        assert read_messages([item]) == [Message("reasoning", "Hm.")], item
    for item in (
        {"type": "reasoning"},
        {"type": "reasoning", "role": "assistant", "content": ""},
        {"role": "assistant", "reasoning_content": ""},
        {"role": "assistant", "content": [{"type": "thinking"}]},
        {"role": "assistant", "content": [{"type": "thinking", "text": "x", "thinking": ""}]},
    ):
        assert read_messages([item]) == [], item
    assert read_chat("Nine.", reasoning="Hm.") == [Message("reasoning", "Hm."), Message("assistant", "Nine.")]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        (["a", "", "b"], "a\nb"),
        ([{"text": "a"}, {"text": ""}, {"refusal": "b"}, {"content": "c"}], "a\nb\nc"),
        ({"text": 1, "refusal": "no", "content": "c"}, "no"),
        ([{"type": "image"}, None], "[image]"),
        ([{"type": 5, "n": 1}], '{"type":5,"n":1}'),
        ([{}], ""),
        ([5, 0], "5\n0"),
        ([["a", None, "b"]], "a\nb"),
        (7, "7"),
        (None, ""),
    ],
)
def test_content_of_any_form_has_a_text(content: Any, text: str) -> None:
    assert read_chat(content) == ([Message("assistant", text)] if text else [])


def test_blocks_keep_their_order_among_texts() -> None:
    blocks: list[Any] = [
        "before",
        {"type": "text", "text": "still before"},
        {"type": "mcp_tool_use", "id": "a", "name": "t", "input": {"q": 1}},
        {"type": "thinking", "thinking": "Hm."},
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "r"}]},
        "after",
        {"type": "tool_use", "input": "x"},
    ]
    assert read_chat(blocks) == [
        Message("assistant", "before\nstill before"),
        ToolCall("t", {"q": 1}, "r"),
        Message("reasoning", "Hm."),
        Message("assistant", "after"),
        ToolCall("(no name)", {"": "x"}),
    ]


def test_a_block_with_an_error_is_the_error_of_its_call() -> None:
    call = {"type": "tool_use", "id": "a", "name": "t"}
    for result, expected in (
        ({"content": "off", "is_error": True}, ToolCall("t", error="off")),
        ({"content": "", "is_error": True}, ToolCall("t", error="error")),
        ({"content": "fine", "is_error": False}, ToolCall("t", {}, "fine")),
        ({"content": {"type": "x_error"}}, ToolCall("t", error="[x_error]")),
        ({"content": {"type": "error_x"}}, ToolCall("t", {}, {"type": "error_x"})),
        ({"content": {"n": 1}}, ToolCall("t", {}, {"n": 1})),
        ({}, ToolCall("t")),
    ):
        assert read_chat([call, {"type": "tool_result", "tool_use_id": "a", **result}]) == [expected], result


def test_the_result_of_a_tool_is_a_text_or_the_value_itself() -> None:
    for content, result in (
        ("5", "5"),
        ([{"text": "a"}, {"text": "b"}], "a\nb"),
        (({"text": "a"},), "a"),
        ([], []),
        ([1, 2], [1, 2]),
        ([{"text": "a"}, 1], [{"text": "a"}, 1]),
        ({"text": "a"}, {"text": "a"}),
        (None, None),
    ):
        assert read_result(content) == ToolCall("t", {}, result)
    for fields in ({"is_error": True}, {"status": "error"}):
        assert read_result("off", **fields) == ToolCall("t", error="off")
    assert read_result("on", status="success", is_error=False) == ToolCall("t", {}, "on")
    old = [{"role": "assistant", "function_call": {"name": "t"}}, {"role": "function", "name": "t", "content": "r"}]
    assert read_messages(old) == [ToolCall("t", {}, "r")]


def test_calls_of_chats_have_arguments_of_every_form() -> None:
    for call, expected in (
        ({"function": {"name": "t", "arguments": '{"a": 1}', "args": "x"}}, ToolCall("t", {"a": 1})),
        ({"name": "t", "args": {"a": 1}, "input": "x"}, ToolCall("t", {"a": 1})),
        ({"custom": {"name": "t", "input": "raw"}}, ToolCall("t", {"": "raw"})),
        ({"function": {}}, ToolCall("(no name)")),
        ("text", ToolCall("(no name)")),
        (SimpleNamespace(function=SimpleNamespace(name="t", arguments=None)), ToolCall("t")),
    ):
        assert read_chat(None, tool_calls=[call]) == [expected], call
    assert read_chat("x", tool_calls=({"name": "t"},)) == [Message("assistant", "x"), ToolCall("t")]
    assert read_chat("x", tool_calls={"name": "t"}) == [Message("assistant", "x")]
    # The older field counts only without the newer one.
    assert read_chat(None, tool_calls=[{"name": "new"}], function_call={"name": "old"}) == [ToolCall("new")]
    assert read_chat(None, tool_calls=[], function_call={"name": "old"}) == [ToolCall("old")]


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        ({"a": 1, 2: 3}, {"a": 1, "2": 3}),
        ('{"a": 1}', {"a": 1}),
        ("no JSON", {"": "no JSON"}),
        (" ", {}),
        ("", {}),
        ("null", {}),
        ("[1]", {"": [1]}),
        ("[" * 100_000, {"": "[" * 100_000}),
        (None, {}),
        (0, {"": 0}),
        (SimpleNamespace(a=1), {"a": 1}),
    ],
)
def test_arguments_are_named_and_others_have_an_empty_name(value: Any, arguments: dict[str, Any]) -> None:
    assert read_arguments(value) == arguments


@dataclass
class Block:
    """A block as an SDK has it."""

    text: str


def test_objects_within_messages_are_read_by_their_fields() -> None:
    assert read_chat([Block("a"), SimpleNamespace(text="b")]) == [Message("assistant", "a\nb")]
    assert read_result([Block("a"), SimpleNamespace(text="b")]) == ToolCall("t", {}, "a\nb")


def test_results_without_an_id_belong_to_the_first_waiting_call() -> None:
    calls = [{"role": "assistant", "tool_calls": [{"name": "a"}, {"name": "b"}, {"name": "a"}]}]
    results = [{"role": "tool", "content": value, **name} for value, name in ((1, {}), (2, {"name": "a"}), (3, {}))]
    assert read_messages([*calls, *results]) == [ToolCall("a", {}, 1), ToolCall("b", {}, 3), ToolCall("a", {}, 2)]
    failed = {"role": "tool", "content": "off", "is_error": True}
    assert read_messages([*calls, failed, *results]) == [
        ToolCall("a", error="off"), ToolCall("b", {}, 1), ToolCall("a", {}, 2), ToolCall("(unknown)", {}, 3),
    ]  # fmt: skip
    # Neither an unknown name nor an unknown id takes the result of another call.
    for odd in ({"name": "c"}, {"name": "c", "tool_call_id": "?"}):
        (*_, last) = read_messages([*calls, {"role": "tool", "content": "off", "status": "error", **odd}])
        assert last == ToolCall("c", error="off")


def test_a_message_before_a_call_does_not_wait_for_a_result() -> None:
    reader = StepReader()
    reader.add([{"role": "user", "content": "go"}, {"role": "tool", "content": 1}])
    assert reader.steps == [Message("user", "go"), ToolCall("(unknown)", {}, 1)]


def test_the_steps_of_a_sub_agent_name_it() -> None:
    reader = StepReader()
    reader.add_exchange([{"role": "user", "content": "go"}], [{"role": "assistant", "content": "ok"}], "helper")
    reader.add([{"role": "user", "content": "on"}])
    assert reader.steps == [
        Message("user", "go", "helper"),
        Message("assistant", "ok", "helper"),
        Message("user", "on"),
    ]


def test_a_message_that_occurs_twice_in_a_request_counts_twice() -> None:
    reader = StepReader()
    yes, answer = {"role": "user", "content": "yes"}, {"role": "assistant", "content": "ok"}
    reader.add_exchange([yes], [answer])
    reader.add_exchange([yes, answer, yes], [answer])
    reader.add_exchange([yes, answer, yes, answer, yes], [])
    texts = [step.text for step in reader.steps if isinstance(step, Message)]
    assert texts == ["yes", "ok", "yes", "ok", "yes"]


def test_results_that_differ_only_in_their_value_or_call_are_different_messages() -> None:
    results = [("a", 1), ("a", 2), ("b", 2)]
    messages = [{"role": "tool", "tool_call_id": call, "content": value} for call, value in results]
    calls = [{"type": "function_call", "call_id": call, "name": call} for call in ("a", "b")]
    reader = StepReader()
    for message in messages:
        reader.add_exchange([*calls, message], [])
    assert reader.steps == [ToolCall("a", {}, 2), ToolCall("b", {}, 2)]
    reader.add_exchange([*calls, *messages], [])
    assert reader.steps == [ToolCall("a", {}, 2), ToolCall("b", {}, 2)]


def add_exchanges(*exchanges: tuple[list[Any], list[Any]]) -> list[Step]:
    reader = StepReader()
    for request, answer in exchanges:
        reader.add_exchange(request, answer)
    return reader.steps


def test_a_request_with_another_message_or_call_is_new() -> None:
    first, second = ({"role": "user", "content": text} for text in "ab")
    assert add_exchanges(([first], []), ([second], [])) == [Message("user", "a"), Message("user", "b")]
    calls = [{"type": "function_call", "call_id": call_id, "name": "t"} for call_id in "12"]
    assert add_exchanges((calls[:1], []), (calls[1:], [])) == [ToolCall("t"), ToolCall("t")]
    # The answer occurs twice in the second request, but was given once.
    answer = {"role": "assistant", "content": "ok"}
    assert len(add_exchanges(([first], [answer]), ([first, answer, answer], []))) == 3


def test_a_request_that_has_no_message_is_refused() -> None:
    with pytest.raises(TypeError, match="message 1 is not a message"):
        add_exchanges((["text"], []))


def test_an_output_names_its_call_among_several() -> None:
    calls = [{"type": "x_call", "id": name} for name in "ab"]
    assert read_messages([*calls, {"type": "x_call_output", "id": "b", "output": 1}]) == [
        ToolCall("x"), ToolCall("x", {}, 1),
    ]  # fmt: skip
    assert read_messages([*calls, {"type": "x_call_output", "output": 1}]) == [ToolCall("x", {}, 1), ToolCall("x")]
    blocks = [{"type": "tool_use", "id": "a", "name": "t"}, {"type": "tool_result", "content": 1}]
    assert read_chat(blocks) == [ToolCall("t", {}, 1)]


def test_objects_within_arguments_become_plain_data() -> None:
    @dataclass
    class Call:
        name: str
        args: dict[str, Block]

    assert read_chat(None, tool_calls=[Call("t", {"b": Block("x")})]) == [ToolCall("t", {"b": {"text": "x"}})]
