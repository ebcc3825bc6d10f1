"""Inputs and outputs of traces as texts: plain values, messages, and the objects around them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scoregate.kernel.types.trajectories.messages import StepReader
from scoregate.kernel.types.trajectory_steps import Message, Step

LONGEST_TEXT = 200_000
_DEEPEST = 6
# Fields that hold the value itself, next to fields that describe it.
_INPUTS = ("messages", "input", "inputs", "question", "query", "prompt")
_OUTPUTS = ("messages", "output", "outputs", "answer", "response", "text", "content")
_CHOICES, _GENERATIONS = "choices", "generations"


def parse_json(value: Any) -> Any:
    """The value of a JSON text of an object or a list; any other value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def read_input(value: Any) -> str:
    """What the user wrote, as text.

    Of messages it is the user's; if there were several, the whole conversation as JSON. An object with one field, or
    with one of the usual fields for inputs, is that field. Anything else is JSON.
    """
    value = _unwrap(parse_json(value), _INPUTS)
    if (messages := find_messages(value)) is not None:
        return describe_turns(_read_steps(messages))
    return to_text(value)


def describe_turns(steps: Sequence[Step]) -> str:
    """The user's message; the conversation as JSON if there were several, or the agent wrote in between."""
    turns = [each for each in steps if isinstance(each, Message) and each.role in ("user", "assistant")]
    while turns and turns[-1].role == "assistant":
        turns.pop()
    if len(turns) == 1:
        return turns[0].text
    messages = [{"role": each.role, "content": each.text} for each in turns]
    return json.dumps(messages, ensure_ascii=False) if messages else ""


def read_output(value: Any) -> str:
    """The agent's answer as text: of messages the last one of the agent."""
    value = parse_json(value)
    if (answer := _find_answer(value)) is not None:
        return to_text(_last_text(answer))
    value = _unwrap(value, _OUTPUTS)
    messages = find_messages(value)
    return to_text(value) if messages is None else to_text(_last_text(messages))


def find_messages(value: Any) -> list[Mapping[str, Any]] | None:
    """The messages of a chat: a list of them, a single one, or the lists of a batch of one; None for another value."""
    value = parse_json(value)
    if isinstance(value, Mapping) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if isinstance(value, Mapping) and _is_message(value):
        value = [value]
    if not isinstance(value, list) or not value:
        return None
    messages = [_plain_message(each) for each in value]
    return [each for each in messages if each is not None] if all(each is not None for each in messages) else None


def find_answer_messages(value: Any) -> list[Mapping[str, Any]]:
    """The messages of a model's answer; a text is a message of the assistant."""
    value = parse_json(value)
    if (answer := _find_answer(value)) is not None:
        return answer
    value = _unwrap(value, _OUTPUTS)
    if (messages := find_messages(value)) is not None:
        return messages
    return [] if value in (None, "") else [{"role": "assistant", "content": to_text(value)}]


def find_request_messages(value: Any) -> list[Mapping[str, Any]]:
    """The messages of a request to a model; a text is a message of the user."""
    value = _unwrap(parse_json(value), _INPUTS)
    if (messages := find_messages(value)) is not None:
        return messages
    return [] if value in (None, "") else [{"role": "user", "content": to_text(value)}]


def to_text(value: Any) -> str:
    """A text as it is, nothing for None, JSON for anything else."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unwrap(value: Any, names: Sequence[str], depth: int = 0) -> Any:
    """The value in an object with one field, or in the first of these fields."""
    if not isinstance(value, Mapping) or _is_message(value) or depth >= _DEEPEST:
        return value
    filled = {name: each for name, each in value.items() if each not in (None, "", [], {})}
    if not filled:
        return None
    name = next((name for name in names if name in filled), None)
    if len(filled) == 1:
        name = next(iter(filled))
    # Other fields than the usual ones may matter, so they are kept, except with messages.
    if name is None or (len(filled) > 1 and name != "messages"):
        return value
    return _unwrap(parse_json(filled[name]), names, depth + 1)


def _is_message(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("role"), str) or value.get("type") in ("human", "ai", "system", "tool")


def _plain_message(value: Any) -> Mapping[str, Any] | None:
    """A message; those that LangChain serialises have their fields under `kwargs` or `data`."""
    if not isinstance(value, Mapping):
        return None
    for name in ("kwargs", "data"):
        inner = value.get(name)
        if isinstance(inner, Mapping) and "content" in inner:
            ids = value.get("id")
            kind = str(ids[-1] if isinstance(ids, list) and ids else value.get("type") or inner.get("type") or "")
            role = next((role for role in ("human", "ai", "system", "tool") if kind.lower().startswith(role)), "human")
            return {**inner, "type": role}
    if isinstance(inner := value.get("message"), Mapping) and _is_message(inner):
        return inner
    if _is_message(value) or value.get("type") in ("function_call", "function_call_output", "message"):
        return value
    return None


def _find_answer(value: Any) -> list[Mapping[str, Any]] | None:
    """The messages of an answer in the form of OpenAI's chats or of LangChain; None for another value."""
    if isinstance(value, list) and value and isinstance(value[0], Mapping) and "message" in value[0]:
        value = {_CHOICES: value}
    if not isinstance(value, Mapping):
        return None
    choices, generations = value.get(_CHOICES), value.get(_GENERATIONS)
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        return [{"role": "assistant", **message}] if isinstance(message, Mapping) else None
    while isinstance(generations, list) and generations:
        generations = generations[0]
    if not isinstance(generations, Mapping):
        return None
    message = _plain_message(generations.get("message"))
    return [message or {"role": "assistant", "content": generations.get("text")}]


def _read_steps(messages: Sequence[Mapping[str, Any]]) -> list[Step]:
    reader = StepReader()
    reader.add(messages)
    return reader.steps


def _last_text(messages: Sequence[Mapping[str, Any]]) -> str:
    texts = [each.text for each in _read_steps(messages) if isinstance(each, Message) and each.role == "assistant"]
    return texts[-1] if texts else ""
