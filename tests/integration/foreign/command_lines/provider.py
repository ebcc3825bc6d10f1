"""The answers of models that make any agent run one command: chat, Responses, Messages and generateContent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.features.gateway.provider import Prepared, Received

Json: TypeAlias = Mapping[str, Any]
COMMAND = "printf 'from 9 to 17' > hours.txt"
ANSWER = "The hours are in hours.txt."
INPUT_TOKENS, OUTPUT_TOKENS = 120, 12
_DESCRIPTION = "Write the hours"
# The arguments of the tool that runs a command, by its name. A text is the input of a tool without a schema.
_TOOLS: Mapping[str, Json | str] = {
    "Bash": {"command": COMMAND, "description": _DESCRIPTION},
    "bash": {"command": COMMAND, "description": _DESCRIPTION},
    "run_shell_command": {"command": COMMAND, "description": _DESCRIPTION},
    "exec_command": {"cmd": COMMAND},
    "shell_command": {"command": COMMAND},
    "shell": {"command": ["sh", "-c", COMMAND]},
    "exec": f"text(await tools.exec_command({json.dumps({'cmd': COMMAND})}));",
}


@dataclass(frozen=True, slots=True)
class _Turn:
    """What the model does next: call a tool, or answer."""

    tool: str | None

    @property
    def arguments(self) -> Json | str:
        return _TOOLS[self.tool or ""]


def answer_agent(request: Received) -> Prepared:
    """Call the agent's tool for commands, and after its result say that it is done."""
    path = request.path.partition("?")[0]
    if request.method != "POST" or not request.body:
        return _to_json({"object": "list", "data": [], "models": []}, 200 if "models" in path else 404)
    body = json.loads(request.body)
    for end, answer in _ANSWERS.items():
        if path.endswith(end):
            return answer(body)
    if model := re.search(r"/models/([^/:]+):(?:stream)?[gG]enerateContent$", path):
        return _answer_gemini(body, model[1], is_stream="stream" in path)
    return _to_json({"error": {"message": f"no such path: {path}"}}, 404)


def _choose(names: Iterable[str], *, has_result: bool) -> _Turn:
    return _Turn(None if has_result else next((name for name in names if name in _TOOLS), None))


def _to_json(value: Json, status: int = 200) -> Prepared:
    return Prepared(json.dumps(value).encode(), status)


def _to_stream(events: Iterable[Json], *, names: bool = False, end: bytes = b"") -> Prepared:
    def encode() -> Iterator[bytes]:
        for event in events:
            name = f"event: {event['type']}\n" if names else ""
            yield f"{name}data: {json.dumps(event)}\n\n".encode()
        if end:
            yield b"data: " + end + b"\n\n"

    return Prepared(headers={"content-type": "text/event-stream"}, parts=encode())


def _answer_chat(body: Json) -> Prepared:
    names = [tool["function"]["name"] for tool in body.get("tools") or () if "function" in tool]
    turn = _choose(names, has_result=any(message["role"] == "tool" for message in body["messages"]))
    message: dict[str, Any] = {"role": "assistant", "content": None if turn.tool else ANSWER}
    if turn.tool:
        function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        message["tool_calls"] = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
    reason = "tool_calls" if turn.tool else "stop"
    usage = {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "total_tokens": 132}
    common = {"id": "chat_1", "created": 1, "model": body["model"]}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return _to_json({**common, "object": "chat.completion", "choices": [choice], "usage": usage})
    common["object"] = "chat.completion.chunk"
    choices = (
        [{"index": 0, "delta": message, "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": reason}],
    )
    chunks = [{**common, "choices": choice} for choice in choices]
    return _to_stream([*chunks, {**common, "choices": [], "usage": usage}], end=b"[DONE]")


def _answer_responses(body: Json) -> Prepared:
    given = body["input"] if isinstance(body["input"], list) else []
    kinds = {item.get("type") for item in given}
    names = [tool.get("name") for tool in body.get("tools") or ()]
    names += ["exec"] if "additional_tools" in kinds else []
    turn = _choose(names, has_result=bool(kinds & {"function_call_output", "custom_tool_call_output"}))
    item: dict[str, Any] = {"id": "item_1", "status": "completed"}
    if turn.tool is None:
        content = [{"type": "output_text", "text": ANSWER, "annotations": []}]
        item |= {"type": "message", "role": "assistant", "content": content}
    elif isinstance(turn.arguments, str):
        item |= {"type": "custom_tool_call", "call_id": "call_1", "name": turn.tool, "input": turn.arguments}
    else:
        arguments = json.dumps(turn.arguments)
        item |= {"type": "function_call", "call_id": "call_1", "name": turn.tool, "arguments": arguments}
    usage = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS, "total_tokens": 132}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    response = {"id": "resp_1", "object": "response", "created_at": 1, "model": body["model"], "status": "completed"}
    response |= {"output": [item], "usage": usage, "error": None, "incomplete_details": None}
    if not body.get("stream"):
        return _to_json(response)
    started = {**response, "status": "in_progress", "output": [], "usage": None}
    events = [
        {"type": "response.created", "response": started},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
        *_list_deltas(item),
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return _to_stream(({**event, "sequence_number": number} for number, event in enumerate(events)), names=True)


def _list_deltas(item: Json) -> Iterator[Json]:
    place = {"item_id": item["id"], "output_index": 0}
    if item["type"] == "message":
        yield {"type": "response.output_text.delta", **place, "content_index": 0, "delta": ANSWER}
    elif item["type"] == "function_call":
        yield {"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]}


def _answer_messages(body: Json) -> Prepared:
    parts = [
        part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]
    ]
    names = [tool["name"] for tool in body.get("tools") or ()]
    turn = _choose(names, has_result=any(part.get("type") == "tool_result" for part in parts))
    block: dict[str, Any] = {"type": "text", "text": ANSWER}
    delta = {"type": "text_delta", "text": ANSWER}
    if turn.tool:
        block = {"type": "tool_use", "id": "toolu_1", "name": turn.tool, "input": turn.arguments}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
    reason = {"stop_reason": "tool_use" if turn.tool else "end_turn", "stop_sequence": None}
    usage = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "usage": usage}
    if not body.get("stream"):
        return _to_json({**message, "content": [block], **reason})
    empty = {**block, "input": {}} if turn.tool else {**block, "text": ""}
    events = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": reason, "usage": {"output_tokens": OUTPUT_TOKENS}},
        {"type": "message_stop"},
    ]
    return _to_stream(events, names=True)


def _answer_gemini(body: Json, model: str, *, is_stream: bool) -> Prepared:
    parts = [part for content in body["contents"] for part in content.get("parts") or ()]
    names = [each["name"] for tool in body.get("tools") or () for each in tool.get("functionDeclarations") or ()]
    turn = _choose(names, has_result=any("functionResponse" in part for part in parts))
    part = {"functionCall": {"name": turn.tool, "args": turn.arguments}} if turn.tool else {"text": ANSWER}
    if schema := (body.get("generationConfig") or {}).get("responseJsonSchema"):  # how hard the task is
        part = {"text": json.dumps({name: _fill(kind) for name, kind in schema["properties"].items()})}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": INPUT_TOKENS, "candidatesTokenCount": OUTPUT_TOKENS, "totalTokenCount": 132}
    answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}
    return _to_stream([answer]) if is_stream else _to_json(answer)


def _fill(schema: Json) -> str | int:
    return 1 if schema["type"].lower() in ("integer", "number") else ANSWER


def _count(_body: Json) -> Prepared:
    return _to_json({"input_tokens": INPUT_TOKENS, "totalTokens": INPUT_TOKENS})


_ANSWERS: Mapping[str, Callable[[Json], Prepared]] = {
    "/chat/completions": _answer_chat,
    "/responses": _answer_responses,
    "/messages": _answer_messages,
    "/messages/count_tokens": _count,
    ":countTokens": _count,
}
