"""Structured output: request an instance of a schema, and parse the answer."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from scoregate.errors import ContentFiltered, MalformedAnswer, ScoregateError
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.task_trace import read_content
from scoregate.models.answer_json import find_object, read_whole_object
from scoregate.models.calls import Answer
from scoregate.models.model import Generation
from scoregate.models.providers import PROVIDERS

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scoregate.models.providers import ModelTarget


_UNSUPPORTED_KEYWORDS = {"default", "title"}


class SchemaMode(Enum):
    """How to send the schema to a server, the best first."""

    JSON_SCHEMA = "json_schema"
    TOOL = "tool"
    JSON_OBJECT = "json_object"

    @property
    def next(self) -> SchemaMode | None:
        """The mode to try after a server refused this one; None after the last."""
        modes = list(SchemaMode)
        position = modes.index(self) + 1
        return modes[position] if position < len(modes) else None


@lru_cache(maxsize=256)
def strict_schema(model: type[BaseModel]) -> Mapping[str, Any]:
    """Return the JSON schema of a class in the form that strict servers need: all properties required, no others."""
    schema: Mapping[str, Any] = _strict(model.model_json_schema())
    return schema


def _strict(part: Any, *, is_name_map: bool = False) -> Any:
    if isinstance(part, list):
        return [_strict(item) for item in part]
    if not isinstance(part, dict):
        return part
    strict = {
        name: _strict(value, is_name_map=not is_name_map and name in ("properties", "$defs"))
        for name, value in part.items()
        if is_name_map or name not in _UNSUPPORTED_KEYWORDS  # a property may be called `title` or `default`
    }
    if not is_name_map and "properties" in strict:
        strict |= {"additionalProperties": False, "required": list(strict["properties"])}
    return strict


def schema_parameters(mode: SchemaMode, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Build the parameters of a request that ask for an instance of a schema."""
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "answer"  # OpenAI allows no other characters
    if mode is SchemaMode.JSON_SCHEMA:
        form = {"name": name, "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": form}}
    if mode is SchemaMode.JSON_OBJECT:
        return {"response_format": {"type": "json_object"}}
    function = {"name": name, "description": "Give the answer.", "parameters": schema}
    choice = {"type": "function", "function": {"name": name}}
    return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}


def add_schema(messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Add the schema as a message, for a server that supports only JSON without a schema."""
    text = f"Answer with one JSON object of this JSON schema, and with nothing else:\n{json.dumps(schema)}"
    return [*messages, {"role": "system", "content": text}]


def build_repair_messages(
    messages: Sequence[Mapping[str, Any]], text: str, *, problem: str, schema: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """Add a malformed answer to the messages, with its problem and a request for a valid answer."""
    wish = f"That is not what was asked for: {problem}\nAnswer again, with one JSON object of this JSON schema"
    return [
        *messages,
        # Servers refuse empty messages.
        *([{"role": "assistant", "content": text}] if text.strip() else []),
        {"role": "user", "content": f"{wish}, and with nothing else:\n{json.dumps(schema)}"},
    ]


def parse_instance(choice: Choice, schema: type[BaseModel]) -> BaseModel:
    """Parse an answer as an instance of a schema. Other text may surround it if the answer is clear.

    Raises:
        MalformedAnswer: the answer is no instance of the schema.
    """
    # Some servers take the whole answer for reasoning.
    text = choice.text if choice.text.strip() or not choice.reasoning else f"<think>{choice.reasoning}"
    try:
        found = read_whole_object(text) or find_object(text, strict_schema(schema))
        return schema.model_validate_json(found or text)
    except ValueError as error:
        message, details = str(error), getattr(error, "errors", None)
        if details is not None:
            problems = details(include_url=False, include_input=False, include_context=False)[:5]
            message = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'it'}: {each['msg']}" for each in problems)
        raise MalformedAnswer(
            f"the answer is not a {schema.__name__}: {message}; it begins with {text[:200]!r}",
            advice="Ask for less in one answer, or use a model that is better at JSON.",
        ) from None


class Choice(NamedTuple):
    """The first choice of an answer.

    Attributes:
        text: its text, or the arguments of its tool calls.
        refusal: why the model refuses to answer; None if it doesn't.
        finish_reason: why the model stopped, as the server reported it.
        reasoning: the reasoning that the server sent apart from the text.
        is_empty: whether the server sent nothing that a caller could take for an answer.
    """

    text: str
    refusal: str | None
    finish_reason: str | None
    reasoning: str
    is_empty: bool


def parse_choice(data: Mapping[str, Any]) -> Choice:
    """Parse the first choice of an answer.

    Raises:
        MalformedAnswer: the answer has no choice.
    """
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(first, Mapping) or not isinstance(message, Mapping):
        raise MalformedAnswer(f"the answer has no choices; it is {dict(data)!r:.300}")
    content, finish_reason = read_content(message.get("content")), first.get("finish_reason")
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    reasoning = reasoning if isinstance(reasoning, str) else content.reasoning
    text = _join_arguments(message.get("tool_calls")) or content.text
    # An empty text is an answer if the server ended it so, and not if a list of parts or reasoning has no text.
    has_ended = message.get("content") == "" and not reasoning and finish_reason != "length"
    is_empty = not text.strip() and not has_ended and not any(message.get(name) for name in _OTHER_ANSWERS)
    return Choice(text, message.get("refusal") or content.refusal or None, finish_reason, reasoning, is_empty)


_OTHER_ANSWERS = ("tool_calls", "function_call", "audio", "images")


def _join_arguments(calls: Any) -> str:
    """The arguments of a tool call. Different calls are joined, so that the first is not taken for the answer."""
    functions = [call.get("function") for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    arguments = [function.get("arguments") for function in functions if isinstance(function, Mapping)]
    texts = [json.dumps(each) if isinstance(each, Mapping) else each for each in arguments]
    return "\n".join(dict.fromkeys(text for text in texts if isinstance(text, str) and text))


def build_generation(answer: Answer, schema: type[BaseModel] | None) -> Generation:
    """Parse an answer.

    Args:
        answer: the answer of the server.
        schema: the answer must be an instance of this class; None for text.

    Raises:
        ContentFiltered: a content filter stopped the answer, or the model refuses to answer.
        MalformedAnswer: the answer is incomplete, or no instance of the schema.
    """
    data, usage = answer.data, answer.usage or Usage()
    choice = parse_valid_choice(data, schema)
    parsed = None if schema is None else parse_instance(choice, schema)
    name = str(data.get("model") or usage.model or "")
    message = data["choices"][0]["message"]
    return Generation(choice.text, parsed, usage, name, usage.cached, choice.finish_reason, message)


def parse_valid_choice(data: Mapping[str, Any], schema: type[BaseModel] | None) -> Choice:
    """Parse the first choice, and check that it is a complete answer.

    Raises:
        ContentFiltered: a content filter stopped the answer, or the model refuses to answer.
        MalformedAnswer: the answer has no choice, or is incomplete.
    """
    choice = parse_choice(data)
    if choice.finish_reason == "content_filter":
        raise ContentFiltered("the content filter stopped the answer", advice="Change the case, or use another model.")
    if choice.refusal and not choice.text:
        raise ContentFiltered(
            f"the model refuses to answer: {choice.refusal[:300]}", advice="Change the case, or use another model."
        )
    if schema is not None and choice.finish_reason == "length":
        raise MalformedAnswer(
            f"the answer was cut off after {len(choice.text):,} characters", advice="Raise max_tokens."
        )
    if schema is None and choice.is_empty:
        raise MalformedAnswer(
            f"the answer has no text; the model stopped because of {choice.finish_reason!r}"
            + (f" after {len(choice.reasoning):,} characters of reasoning" if choice.reasoning else ""),
            advice="Raise max_tokens, or use another model.",
        )
    return choice


def is_complete(data: Mapping[str, Any], schema: type[BaseModel] | None) -> bool:
    """Whether the answer is complete and without an error."""
    try:
        choice = parse_valid_choice(data, schema)
        if schema is not None:
            parse_instance(choice, schema)
    except ScoregateError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ModelCapabilities:
    """What a model supports.

    Attributes:
        schema_mode: how to send a schema; None if the server has refused every mode.
        drops: parameters that are not sent.
        renames: parameters that are sent under another name.
    """

    schema_mode: SchemaMode | None = SchemaMode.JSON_SCHEMA
    drops: frozenset[str] = frozenset()
    renames: Mapping[str, str] = field(default_factory=dict)

    def adapt_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters in the form that the model supports."""
        return {self.renames.get(name, name): value for name, value in parameters.items() if name not in self.drops}


_capabilities: dict[tuple[str, str], ModelCapabilities] = {}
_lock = threading.Lock()


def get_capabilities(target: ModelTarget) -> ModelCapabilities:
    """The known capabilities of a model at an address."""
    ignores_schema = target.provider in PROVIDERS and PROVIDERS[target.provider].ignores_response_format
    mode = SchemaMode.TOOL if ignores_schema else SchemaMode.JSON_SCHEMA
    return _capabilities.get((target.base_url, target.model)) or ModelCapabilities(mode)


def downgrade(target: ModelTarget, *, used: ModelCapabilities, error: Any) -> bool:
    """Remove the capability that a server has refused.

    Args:
        target: the model and its address.
        used: the capabilities with which the refused request was built.
        error: the exception of the openai package.

    Returns:
        Whether a request with the new capabilities may succeed.
    """
    body = error.body if isinstance(getattr(error, "body", None), Mapping) else {}
    parameter, message = str(body.get("param") or ""), str(body.get("message") or error).lower()
    with _lock:
        if get_capabilities(target) != used:
            return True  # another call has changed them
        if parameter == "max_tokens" or "max_completion_tokens" in message:
            downgraded = replace(used, renames={"max_tokens": "max_completion_tokens"})
        elif "temperature" in (parameter or message):
            downgraded = replace(used, drops=used.drops | {"temperature"})
        elif used.schema_mode is not None and any(word in f"{parameter} {message}" for word in _SCHEMA_WORDS):
            downgraded = replace(used, schema_mode=used.schema_mode.next)
        else:
            return False
        _capabilities[target.base_url, target.model] = downgraded
        return downgraded != used


_SCHEMA_WORDS = ("response_format", "json_schema", "json_object", "tool", "function", "schema", "structured", "grammar")


def learn_ignored_schema(
    target: ModelTarget, *, used: ModelCapabilities, data: Mapping[str, Any], schema: type[BaseModel]
) -> None:
    """Ask a model in another mode from now on, if its malformed answer shows that it never saw the schema.

    Args:
        target: the model and its address.
        used: the capabilities with which the request was built.
        data: the malformed answer.
        schema: what the answer had to be.
    """
    try:
        choice = parse_choice(data)
        text = read_whole_object(choice.text)
    except (ValueError, MalformedAnswer):
        return
    if choice.finish_reason in ("length", "content_filter"):
        return
    if text is not None and json.loads(text).keys() & strict_schema(schema).get("properties", {}).keys():
        return
    with _lock:
        mode = None if used.schema_mode is None else used.schema_mode.next
        # The last mode has the schema in the messages, so it is never given up for an answer alone.
        if mode is not None and get_capabilities(target) == used:
            _capabilities[target.base_url, target.model] = replace(used, schema_mode=mode)
