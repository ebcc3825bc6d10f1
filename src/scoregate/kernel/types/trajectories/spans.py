"""Spans of OpenTelemetry as steps: the conventions for generative AI, and OpenInference."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scoregate.kernel.types.trace import CALL_ARGUMENTS, Span
from scoregate.kernel.types.trajectories.messages import StepReader, read_arguments
from scoregate.kernel.types.trajectory_steps import Step, ToolCall

_OPENINFERENCE_KINDS = {"LLM": "chat", "TOOL": "execute_tool", "AGENT": "invoke_agent"}
_CHATS = ("chat", "generate_content", "text_completion")
_MOST_PARTS = 1_000
# Marks messages about tools that the provider runs.
_IS_SERVER = "is_server_tool"


def read_spans(spans: Iterable[Span]) -> list[Step]:
    """The steps that spans record, in the order of their start.

    Tools are read from their own spans. If there are none, they are read from the messages of models.

    Args:
        spans: the spans of one trace; spans of other kinds are ignored.
    """
    ordered = sorted(spans, key=lambda span: span.start_ns)
    agents = _find_agents(ordered)
    has_tools = any(_find_kind(span) == "execute_tool" for span in ordered)
    chats = [span for span in ordered if _find_kind(span) in _CHATS]
    # Without spans of models, the outermost agent knows at least the first message and the last.
    roots = [] if chats else [span for span in ordered if _find_kind(span) == "invoke_agent"][:1]
    reader = StepReader()
    for span in roots:
        reader.add(_list_messages(span)[0])
    for span in ordered:
        agent = agents.get(span.span_id, "")
        if _find_kind(span) == "execute_tool":
            reader.steps.append(_read_tool(span, agent))
        elif _find_kind(span) in _CHATS:
            request, answer = _list_messages(span)
            if has_tools:
                request, answer = _without_tools(request), _without_tools(answer)
            reader.add_exchange(request, answer, agent)
    for span in roots:
        reader.add(_list_messages(span)[1])
    return reader.steps


def has_tools_or_chats(spans: Iterable[Span]) -> bool:
    """Whether a span is a call of a tool or of a model."""
    return any(_find_kind(span) in ("execute_tool", *_CHATS) for span in spans)


def explain_unseen_calls(spans: Sequence[Span]) -> str:
    """Why spans don't show all calls of tools; empty if they do.

    Calls are seen in the spans of tools. Without any, they are seen in the answers of models, if those are recorded:
    instrumentations leave them out by default.

    Args:
        spans: the spans of one run, with some of tools or models.
    """
    if any(_find_kind(span) == "execute_tool" for span in spans):
        return ""
    chats = [span for span in spans if _find_kind(span) in _CHATS]
    silent = sum(span.error is None and not _shows_answer(span) for span in chats)
    if not silent:
        return ""
    shown = "the span of a model has" if len(chats) == 1 else f"{silent:,} of {len(chats):,} spans of models have"
    return (
        f"{shown} no answer, and no span is that of a tool; let the instrumentation record the content of messages, "
        "as with OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
    )


def _shows_answer(span: Span) -> bool:
    """Whether the calls of tools in a model's answer are recorded. The plain `output.value` may lack them."""
    if "openinference.span.kind" in span.attributes:
        return bool(_read_flat(span.attributes, "llm.output_messages"))
    return bool(_list_messages(span)[1])


def _without_tools(messages: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages without calls of tools and results that have spans of their own; tools of the provider have none."""
    return [
        each if each.get(_IS_SERVER) else {**each, "tool_calls": None}
        for each in messages
        if each.get(_IS_SERVER) or each.get("role") not in ("tool", "function")
    ]


def _find_kind(span: Span) -> str:
    attributes = span.attributes
    kind = attributes.get("openinference.span.kind")
    if isinstance(kind, str):
        return _OPENINFERENCE_KINDS.get(kind.upper(), kind.lower())
    return str(attributes.get("gen_ai.operation.name") or "")


def _find_agents(spans: Sequence[Span]) -> dict[str, str]:
    """The name of the sub-agent of each span; none for spans of the agent itself, which is the outermost one."""
    by_id = {span.span_id: span for span in spans}
    agents: dict[str, str] = {}
    for span in spans:
        parent = by_id.get(span.parent_id)
        inherited = agents.get(span.parent_id, "")
        is_agent = _find_kind(span) == "invoke_agent"
        agents[span.span_id] = _find_agent_name(span) if is_agent and _is_below_agent(parent, by_id) else inherited
    return {span_id: name for span_id, name in agents.items() if name}


def _is_below_agent(span: Span | None, by_id: Mapping[str, Span]) -> bool:
    seen: set[str] = set()
    while span is not None and span.span_id not in seen:  # spans may name each other as parents
        if _find_kind(span) == "invoke_agent":
            return True
        seen.add(span.span_id)
        span = by_id.get(span.parent_id)
    return False


def _find_agent_name(span: Span) -> str:
    return str(span.attributes.get("gen_ai.agent.name") or span.attributes.get("agent.name") or span.name)


def _read_tool(span: Span, agent: str) -> ToolCall:
    attributes = span.attributes
    name = attributes.get("gen_ai.tool.name") or attributes.get("tool.name") or span.name
    given = _first(attributes, CALL_ARGUMENTS, "tool.parameters", "input.value", "input")
    result = _first(attributes, "gen_ai.tool.call.result", "output.value", "output")
    duration_s = max(0, span.end_ns - span.start_ns) / 1e9
    return ToolCall(str(name), read_arguments(given), _read_result(result), span.error, duration_s, agent=agent)


def _first(attributes: Mapping[str, Any], *names: str) -> Any:
    return next((attributes[name] for name in names if attributes.get(name) is not None), None)


def _read_result(value: Any) -> Any:
    """The result of a tool: the value of a JSON object or list; a text such as "5" stays a text."""
    is_json = isinstance(value, str) and value.lstrip()[:1] in ("{", "[")
    return _parse(value) if is_json else value


def _parse(value: Any) -> Any:
    """The value of a JSON text; another value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _list_messages(span: Span) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The messages of a request and those of its answer, in the form of chats."""
    attributes = span.attributes
    if "openinference.span.kind" in attributes:
        flat = [_read_flat(attributes, f"llm.{side}_messages") for side in ("input", "output")]
        if any(flat):
            return flat[0], flat[1]
        return _read_value(attributes, "user", "input.value"), _read_value(attributes, "assistant", "output.value")
    sides = [_parse(attributes.get(f"gen_ai.{side}.messages")) for side in ("input", "output")]
    if not any(sides):
        return _read_events(span)
    system = _parse(attributes.get("gen_ai.system_instructions"))
    first = [{"role": "system", "parts": system}] if isinstance(system, list) else []
    request, answer = (
        [each for each in side if isinstance(each, Mapping)] if isinstance(side, list) else [] for side in sides
    )
    return _convert_messages([*first, *request]), _convert_messages(answer)


def _read_value(attributes: Mapping[str, Any], role: str, name: str) -> list[Mapping[str, Any]]:
    return [] if attributes.get(name) is None else [{"role": role, "content": str(attributes[name])}]


def _convert_messages(messages: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [message for each in messages for message in _convert_parts(each)]


def _convert_parts(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A message of the conventions, with `parts`, as messages of chats."""
    parts = message.get("parts")
    role = str(message.get("role") or "user")
    if not isinstance(parts, list):
        yield {"role": role, **message}
        return
    for part in parts[:_MOST_PARTS]:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "tool_call":
            function = {"name": part.get("name"), "arguments": part.get("arguments")}
            yield {"role": "assistant", "content": None, "tool_calls": [{"id": part.get("id"), "function": function}]}
        elif kind == "tool_call_response":
            value = part.get("response", part.get("result"))
            yield {"role": "tool", "tool_call_id": part.get("id"), "content": value}
        elif kind == "server_tool_call":
            function = {"name": part.get("name"), "arguments": _unwrap(part.get(kind), "arguments")}
            call = {"id": part.get("id"), "function": function}
            yield {"role": "assistant", "content": None, "tool_calls": [call], _IS_SERVER: True}
        elif kind == "server_tool_call_response":
            value = _unwrap(part.get(kind), "response")
            yield {"role": "tool", "tool_call_id": part.get("id"), "content": value, _IS_SERVER: True}
        elif kind == "reasoning":
            yield {"type": "reasoning", "content": part.get("content")}
        elif isinstance(part, Mapping):
            yield {"role": role, "content": part.get("content")}


def _unwrap(value: Any, name: str) -> Any:
    """The field of a tool of the provider that has its values; without it all fields but the kind of tool."""
    if not isinstance(value, Mapping):
        return value
    return value[name] if name in value else {key: each for key, each in value.items() if key != "type"}


def _read_events(span: Span) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The messages of the older conventions, which have an event for each."""
    request: list[Mapping[str, Any]] = []
    answer: list[Mapping[str, Any]] = []
    for event in span.events:
        name, attributes = str(event.get("name")), event.get("attributes")
        if not isinstance(attributes, Mapping) or not name.startswith("gen_ai."):
            continue
        if name == "gen_ai.choice":
            message = _parse(attributes.get("message"))
            answer.append({"role": "assistant", **(message if isinstance(message, Mapping) else {"content": message})})
        elif name.endswith(".message"):
            fields = {**attributes, "tool_calls": _parse(attributes.get("tool_calls"))}
            request.append({"role": name.split(".")[1], "tool_call_id": attributes.get("id"), **fields})
    return request, answer


def _read_flat(attributes: Mapping[str, Any], prefix: str) -> list[Mapping[str, Any]]:
    """The messages of OpenInference, whose fields are attributes such as `llm.input_messages.0.message.role`."""
    messages: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        parts = name.removeprefix(f"{prefix}.").split(".")
        if not name.startswith(f"{prefix}.") or len(parts) < 3 or not parts[0].isdecimal():
            continue
        message = messages.setdefault(int(parts[0]), {"role": "user", "content": None})
        _set_field(message, parts[2:], value)
    return [_finish_flat(messages[number]) for number in sorted(messages)[:_MOST_PARTS]]


def _set_field(message: dict[str, Any], path: list[str], value: Any) -> None:
    match path:
        case ["role" | "content" | "name" | "tool_call_id"]:
            message[path[0]] = value
        case ["contents", number, "message_content", "text"] if number.isdecimal():
            message.setdefault("contents", {})[int(number)] = value
        case ["tool_calls", number, "tool_call", *rest] if number.isdecimal():
            call = message.setdefault("calls", {}).setdefault(int(number), {"function": {}})
            if rest == ["id"]:
                call["id"] = value
            elif rest[:1] == ["function"] and len(rest) == 2:
                call["function"][rest[1]] = value


def _finish_flat(message: dict[str, Any]) -> dict[str, Any]:
    contents, calls = message.pop("contents", {}), message.pop("calls", {})
    if contents:
        message["content"] = "\n".join(str(contents[number]) for number in sorted(contents))
    if calls:
        message["tool_calls"] = [calls[number] for number in sorted(calls)]
    return message
