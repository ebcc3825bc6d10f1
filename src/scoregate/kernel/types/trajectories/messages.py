"""Messages of the APIs of OpenAI and Anthropic as steps: chats, items of the Responses API, and content blocks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scoregate.kernel.types.json_io import dump, to_plain
from scoregate.kernel.types.trajectory_steps import Message, Role, Step, ToolCall

_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
}

_MESSAGE_TYPES = ("human", "ai", "system", "tool")
# The Responses API has an item type for each of its own tools, such as `web_search_call` or `local_shell_call`.
_CALL, _OUTPUT = "_call", "_call_output"
_PROVIDER_CALLS = frozenset(
    {"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "tool_search_call"}
)
# What items of these types have besides their arguments.
_ITEM_FIELDS = frozenset({"type", "id", "call_id", "status", "output", "outputs", "result", "results", "error"})


def read_messages(messages: Iterable[Any]) -> list[Step]:
    """The steps of messages, each tool call with its result.

    Args:
        messages: dicts, or objects of the SDKs.

    Raises:
        TypeError: a message is neither a dict nor an object with a role or a type.
    """
    reader = StepReader()
    reader.add(messages)
    return reader.steps


def find_provider_tool(part: Any) -> str:
    """The tool that a part of an answer reports as run by the provider; empty for another part.

    Args:
        part: an item of the Responses API, or a block of Anthropic's.
    """
    kind = part.get("type") if isinstance(part, Mapping) else None
    if kind in ("server_tool_use", "mcp_tool_use", "mcp_call"):
        return str(part.get("name"))
    return str(kind).removesuffix(_CALL) if kind in _PROVIDER_CALLS else ""


class StepReader:
    """Reads the messages of one or more conversations as steps.

    Attributes:
        steps: the steps so far.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._calls: dict[str, int] = {}
        self._seen: Counter[str] = Counter()

    def add(self, messages: Iterable[Any], agent: str = "") -> None:
        """Add messages.

        Args:
            messages: dicts, or objects of the SDKs.
            agent: the name of the sub-agent.

        Raises:
            TypeError: a message is neither a dict nor an object with a role or a type.
        """
        for position, each in enumerate(messages, 1):
            message = _to_mapping(each)
            if message is None or not ("role" in message or "type" in message):
                raise TypeError(f"message {position} is not a message with a role or a type: {each!r:.100}")
            for item in _read_message(message):
                if isinstance(item, _Result):
                    self._add_result(item)
                    continue
                call_id, step = item
                if call_id:
                    self._calls[call_id] = len(self.steps)
                self.steps.append(replace(step, agent=agent) if agent else step)

    def add_exchange(self, request: Sequence[Any], answer: Sequence[Any], agent: str = "") -> None:
        """Add a request of a model and its answer. A request repeats the conversation, so only its new messages count.

        Args:
            request: the messages of the request.
            answer: the messages of the answer.
            agent: the name of the sub-agent.
        """
        # Counted, since a conversation may have the same message twice.
        counts: Counter[str] = Counter()
        new = []
        for message in request:
            key = _make_key(message)
            counts[key] += 1
            if counts[key] > self._seen[key]:
                new.append(message)
        for message in answer:
            counts[_make_key(message)] += 1
        self._seen |= counts
        self.add([*new, *answer], agent)

    def _add_result(self, result: _Result) -> None:
        """Give a call its result. A result whose call is unknown is a call without arguments."""
        position = self._calls.get(result.call_id) if result.call_id else self._find_waiting(result.name)
        if position is None:
            self.steps.append(ToolCall(result.name or "(unknown)", {}, result.value, result.error))
            return
        call = self.steps[position]
        assert isinstance(call, ToolCall)
        self.steps[position] = replace(call, result=result.value, error=result.error)

    def _find_waiting(self, name: str) -> int | None:
        """The first call without a result, of this tool if the result names it."""
        for position, step in enumerate(self.steps):
            is_waiting = isinstance(step, ToolCall) and step.result is None and step.error is None
            if is_waiting and name in ("", getattr(step, "name", "")):
                return position
        return None


class _Result:
    """The result of a tool call, which names the call by its id."""

    __slots__ = ("call_id", "error", "name", "value")

    def __init__(self, call_id: str, value: Any, *, is_error: bool = False, name: str = "") -> None:
        self.call_id, self.name = call_id, name
        self.value: Any = None if is_error else value
        self.error: str | None = (_to_text(value) or "error") if is_error else None


def _make_key(message: Any) -> str:
    """What a message is known by: its role, its text and its tool calls."""
    items = list(_read_message(_to_mapping(message) or {}))
    shown = [
        (each.call_id, repr(each.value)) if isinstance(each, _Result) else (each[0], repr(each[1])) for each in items
    ]
    return repr(shown)


def _read_message(message: Mapping[str, Any]) -> Iterator[tuple[str, Step] | _Result]:
    kind = message.get("type")
    if "role" not in message and kind in _MESSAGE_TYPES:  # LangChain
        message = {**message, "role": kind}
    if kind in ("function_call", "custom_tool_call", "mcp_call"):
        yield from _read_response_call(message)
    elif isinstance(kind, str) and kind.endswith(_OUTPUT):
        yield _Result(str(message.get("call_id") or message.get("id") or ""), _read_value(message.get("output")))
    elif isinstance(kind, str) and kind.endswith(_CALL):
        yield from _read_own_tool(kind.removesuffix(_CALL), message)
    elif kind == "reasoning":
        if text := _to_text(message.get("summary") or message.get("content") or ""):
            yield "", Message("reasoning", text)
    elif message.get("role") in ("tool", "function"):
        name = str(message.get("name") or "")
        value = _read_value(message.get("content"))
        yield _Result(str(message.get("tool_call_id") or ""), value, is_error=_is_error(message), name=name)
    elif "role" in message:
        yield from _read_chat_message(message, _ROLES.get(str(message["role"]), "user"))


def _read_response_call(message: Mapping[str, Any]) -> Iterator[tuple[str, Step] | _Result]:
    call_id = str(message.get("call_id") or message.get("id") or "")
    arguments = read_arguments(message.get("arguments", message.get("input")))
    error = message.get("error")
    yield (
        call_id,
        ToolCall(
            str(message.get("name") or "(no name)"),
            arguments,
            _read_value(message.get("output")),
            None if error in (None, "") else _to_text(error),
        ),
    )


def _read_own_tool(name: str, message: Mapping[str, Any]) -> Iterator[tuple[str, Step] | _Result]:
    """A call of a tool that the provider runs. Its arguments are in `action` or `operation`, or fields of the item."""
    given = next((message[key] for key in ("action", "operation") if message.get(key) is not None), None)
    fields = {key: value for key, value in message.items() if key not in _ITEM_FIELDS and value is not None}
    outputs = (message[key] for key in ("output", "outputs", "results", "result") if message.get(key) is not None)
    error = "failed" if message.get("status") == "failed" else None
    call_id = str(message.get("call_id") or message.get("id") or "")
    arguments = read_arguments(fields if given is None else given)
    yield call_id, ToolCall(name, arguments, None if error else _read_value(next(outputs, None)), error)


def _read_chat_message(message: Mapping[str, Any], role: Role) -> Iterator[tuple[str, Step] | _Result]:
    if text := _to_text(message.get("reasoning_content") or message.get("reasoning") or ""):
        yield "", Message("reasoning", text)
    content = message.get("content")
    blocks = content if isinstance(content, Sequence) and not isinstance(content, str | bytes) else [content]
    texts: list[str] = []
    for block in map(_to_block, blocks):
        kind = block.get("type")
        if kind == "thinking" or (isinstance(kind, str) and kind.endswith(("tool_use", "tool_result"))):
            if texts:
                yield "", Message(role, "\n".join(texts))
                texts = []
            yield from _read_block(kind, block)
        elif text := _to_text(block):
            texts.append(text)
    if texts:
        yield "", Message(role, "\n".join(texts))
    calls = message.get("tool_calls")
    if not calls and message.get("function_call"):  # the form of chats before `tool_calls`
        calls = [{"function": message["function_call"]}]
    for call in map(_to_block, calls if isinstance(calls, list | tuple) else ()):
        function = _to_block(call.get("function") or call.get("custom") or call)  # `custom` tools of OpenAI take a text
        arguments = function.get("arguments", function.get("args", function.get("input")))
        name = str(function.get("name") or "(no name)")
        yield str(call.get("id") or ""), ToolCall(name, read_arguments(arguments))


def _read_block(kind: str, block: Mapping[str, Any]) -> Iterator[tuple[str, Step] | _Result]:
    if kind == "thinking":
        if text := _to_text(block.get("thinking") or ""):
            yield "", Message("reasoning", text)
    elif kind.endswith("tool_use"):
        name = str(block.get("name") or "(no name)")
        yield str(block.get("id") or ""), ToolCall(name, read_arguments(block.get("input")))
    else:
        content = block.get("content")
        # Tools that the provider runs report an error as the type of their content.
        is_error = bool(block.get("is_error")) or str(_to_block(content).get("type", "")).endswith("_error")
        yield _Result(str(block.get("tool_use_id") or ""), _read_value(content), is_error=is_error)


def _is_error(message: Mapping[str, Any]) -> bool:
    return bool(message.get("is_error")) or message.get("status") == "error"


def _to_mapping(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping):
        return value
    if not hasattr(value, "__dict__"):
        return None
    plain = to_plain(value)  # models of pydantic and dataclasses, as the SDKs have them
    return plain if isinstance(plain, Mapping) else vars(value)


def _to_block(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    return {"text": value} if isinstance(value, str) else _to_mapping(value) or {"text": _to_text(value)}


def _to_text(value: Any) -> str:
    """The text of a content: a string, blocks of text, or the JSON text of anything else. Media are only named."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        for name in ("text", "refusal", "content"):
            if isinstance(value.get(name), str):
                return str(value[name])
        if not value:
            return ""
        kind = value.get("type")
        return f"[{kind}]" if isinstance(kind, str) else dump(to_plain(value)).decode()
    if isinstance(value, Sequence):
        return "\n".join(text for each in value if (text := _to_text(_to_mapping(each) or each)))
    return "" if value is None else str(value)


def _read_value(content: Any) -> Any:
    """The result of a tool: blocks of text as one text, other values as they are."""
    is_blocks = isinstance(content, list | tuple) and content and all(_to_mapping(each) is not None for each in content)
    return _to_text(content) if is_blocks else content


def read_arguments(value: Any) -> Mapping[str, Any]:
    """The arguments of a tool call by name.

    Args:
        value: a mapping, or the JSON text of one; any other value is under the name "".
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"": value} if value.strip() else {}
    mapping = _to_mapping(value)
    if mapping is not None:
        return {str(name): each for name, each in mapping.items()}
    return {} if value is None else {"": value}
