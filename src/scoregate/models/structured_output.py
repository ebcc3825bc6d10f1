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

from scoregate.core.evaluation import Usage
from scoregate.errors import ContentFiltered, MalformedAnswer, ScoregateError
from scoregate.models.calls import Answer
from scoregate.models.model import Generation

if TYPE_CHECKING:
    from pydantic import BaseModel


_FENCE = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL)
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
        if is_name_map or name not in _UNSUPPORTED_KEYWORDS
    }
    if not is_name_map and "properties" in strict:
        strict |= {"additionalProperties": False, "required": list(strict["properties"])}
    return strict


def schema_parameters(mode: SchemaMode, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Build the parameters of a request that ask for an instance of a schema."""
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "answer"
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
        {"role": "assistant", "content": text},
        {"role": "user", "content": f"{wish}, and with nothing else:\n{json.dumps(schema)}"},
    ]


def parse_instance(text: str, schema: type[BaseModel]) -> BaseModel:
    """Parse an answer as an instance of a schema; it may be in a Markdown code block.

    Raises:
        MalformedAnswer: the answer is no instance of the schema.
    """
    fenced = _FENCE.fullmatch(text)
    try:
        return schema.model_validate_json(fenced[1] if fenced else text)
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
    """The first choice of an answer; `text` is its text, or the arguments of its tool call."""

    text: str
    refusal: str | None
    finish_reason: str | None


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
    calls = message.get("tool_calls")
    function = calls[0].get("function") if isinstance(calls, list) and calls and isinstance(calls[0], Mapping) else None
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    text = arguments or message.get("content")
    return Choice(text if isinstance(text, str) else "", message.get("refusal"), first.get("finish_reason"))


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
    parsed = None if schema is None else parse_instance(choice.text, schema)
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
    return choice


def is_complete(data: Mapping[str, Any], schema: type[BaseModel] | None) -> bool:
    """Whether the answer is complete and without an error."""
    try:
        choice = parse_valid_choice(data, schema)
        if schema is not None:
            parse_instance(choice.text, schema)
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


def get_capabilities(address: str, model: str) -> ModelCapabilities:
    """The known capabilities of a model at an address."""
    return _capabilities.get((address, model), ModelCapabilities())


def downgrade(address: str, model: str, *, used: ModelCapabilities, error: Any) -> bool:
    """Remove the capability that a server has refused.

    Args:
        address: the base URL.
        model: the name of the model.
        used: the capabilities with which the refused request was built.
        error: the exception of the openai package.

    Returns:
        Whether a request with the new capabilities may succeed.
    """
    body = error.body if isinstance(getattr(error, "body", None), Mapping) else {}
    parameter, message = str(body.get("param") or ""), str(body.get("message") or error).lower()
    with _lock:
        if get_capabilities(address, model) != used:
            return True  # another call has changed them
        if parameter == "max_tokens" or "max_completion_tokens" in message:
            downgraded = replace(used, renames={"max_tokens": "max_completion_tokens"})
        elif "temperature" in (parameter or message):
            downgraded = replace(used, drops=used.drops | {"temperature"})
        elif used.schema_mode is not None and any(word in f"{parameter} {message}" for word in _SCHEMA_WORDS):
            downgraded = replace(used, schema_mode=used.schema_mode.next)
        else:
            return False
        _capabilities[address, model] = downgraded
        return downgraded != used


_SCHEMA_WORDS = ("response_format", "json_schema", "json_object", "tool", "function", "schema", "structured", "grammar")
