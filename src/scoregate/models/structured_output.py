"""Answers that are instances of a schema: how they are asked for, and how they are read."""

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
_BROKEN_WORDS = {"default", "title"}


class Way(Enum):
    """How a server is told the schema, the best first."""

    JSON_SCHEMA = "json_schema"
    TOOL = "tool"
    JSON_OBJECT = "json_object"

    @property
    def next(self) -> Way | None:
        """What to try where this one is refused."""
        ways = list(Way)
        at = ways.index(self) + 1
        return ways[at] if at < len(ways) else None


@lru_cache(maxsize=256)
def schema_of(model: type[BaseModel]) -> Mapping[str, Any]:
    """Its JSON schema, as strict servers want it: every property required, and no others."""
    strict: Mapping[str, Any] = _strict(model.model_json_schema())
    return strict


def _strict(part: Any, *, names: bool = False) -> Any:
    if isinstance(part, list):
        return [_strict(each) for each in part]
    if not isinstance(part, dict):
        return part
    made = {
        name: _strict(value, names=not names and name in ("properties", "$defs"))
        for name, value in part.items()
        if names or name not in _BROKEN_WORDS
    }
    if not names and "properties" in made:
        made |= {"additionalProperties": False, "required": list(made["properties"])}
    return made


def asked_for(way: Way, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """What the request holds in order to be answered so."""
    if way is Way.JSON_SCHEMA:
        form = {"name": _name(name), "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": form}}
    if way is Way.JSON_OBJECT:
        return {"response_format": {"type": "json_object"}}
    function = {"name": _name(name), "description": "Give the answer.", "parameters": schema}
    choice = {"type": "function", "function": {"name": _name(name)}}
    return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}


def _name(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "answer"


def with_schema(messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages, with the schema told in words for a server that only knows JSON as such."""
    text = f"Answer with one JSON object of this JSON schema, and with nothing else:\n{json.dumps(schema)}"
    return [*messages, {"role": "system", "content": text}]


def repair(
    messages: Sequence[Mapping[str, Any]], text: str, *, problem: str, schema: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """The messages with a malformed answer and what is wrong with it."""
    wish = f"That is not what was asked for: {problem}\nAnswer again, with one JSON object of this JSON schema"
    return [
        *messages,
        {"role": "assistant", "content": text},
        {"role": "user", "content": f"{wish}, and with nothing else:\n{json.dumps(schema)}"},
    ]


def read(text: str, schema: type[BaseModel]) -> BaseModel:
    """The instance in an answer, which may stand in a fence of code.

    Raises:
        MalformedAnswer: it is none.
    """
    fenced = _FENCE.fullmatch(text)
    try:
        return schema.model_validate_json(fenced[1] if fenced else text)
    except ValueError as error:
        raise MalformedAnswer(
            f"the answer is not a {schema.__name__}: {_reasons(error)}; it begins with {text[:200]!r}",
            advice="Ask for less in one answer, or use a model that is better at JSON.",
        ) from None


def _reasons(error: ValueError) -> str:
    details: Any = getattr(error, "errors", None)
    if details is None:
        return str(error)
    found = details(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or 'it'}: {each['msg']}" for each in found[:5])


class Choice(NamedTuple):
    """What the first choice says: its text, or the arguments of the tool that it calls."""

    text: str
    refusal: str | None
    finish_reason: str | None


def choice_of(table: Mapping[str, Any]) -> Choice:
    """The first choice of an answer.

    Raises:
        MalformedAnswer: there is none.
    """
    choices = table.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(first, Mapping) or not isinstance(message, Mapping):
        raise MalformedAnswer(f"the answer has no choices; it is {dict(table)!r:.300}")
    text = _arguments(message) or message.get("content")
    return Choice(text if isinstance(text, str) else "", message.get("refusal"), first.get("finish_reason"))


def _arguments(message: Mapping[str, Any]) -> Any:
    calls = message.get("tool_calls")
    called = calls[0].get("function") if isinstance(calls, list) and calls and isinstance(calls[0], Mapping) else None
    return called.get("arguments") if isinstance(called, Mapping) else None


def generation_of(answer: Answer, schema: type[BaseModel] | None) -> Generation:
    """The answer, read.

    Raises:
        ContentFiltered: a filter stopped it, or the model refuses. MalformedAnswer: it is cut off or no such object.
    """
    table, usage = answer.table, answer.usage or Usage()
    choice = checked(table, schema)
    parsed = None if schema is None else read(choice.text, schema)
    name = str(table.get("model") or usage.model or "")
    return Generation(choice.text, parsed, usage, name, usage.cached, choice.finish_reason)


def checked(table: Mapping[str, Any], schema: type[BaseModel] | None) -> Choice:
    """The first choice, if it is an answer.

    Raises:
        ContentFiltered, MalformedAnswer: as `generation_of`.
    """
    choice = choice_of(table)
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


def is_whole(table: Mapping[str, Any], schema: type[BaseModel] | None) -> bool:
    """Whether this is an answer, and no error."""
    try:
        choice = checked(table, schema)
        if schema is not None:
            read(choice.text, schema)
    except ScoregateError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ModelCapabilities:
    """`way` is how a schema is asked for, None where every way was refused.

    `drops` are parameters that are not sent, and `renames` those that are sent under another name.
    """

    way: Way | None = Way.JSON_SCHEMA
    drops: frozenset[str] = frozenset()
    renames: Mapping[str, str] = field(default_factory=dict)

    def applied(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as this model takes them."""
        return {self.renames.get(name, name): value for name, value in parameters.items() if name not in self.drops}


_known: dict[tuple[str, str], ModelCapabilities] = {}
_lock = threading.Lock()


def manners_of(address: str, model: str) -> ModelCapabilities:
    """What is known of a model at an address."""
    return _known.get((address, model), ModelCapabilities())


def learn(address: str, model: str, *, used: ModelCapabilities, told: Any) -> bool:
    """Whether a refusal of a request that was made in this manner leaves another one to try."""
    with _lock:
        if manners_of(address, model) != used:
            return True  # somebody else has learnt it meanwhile
        if (better := _better(used, told)) is None:
            return False
        _known[address, model] = better
        return True


def _better(used: ModelCapabilities, told: Any) -> ModelCapabilities | None:
    body = told.body if isinstance(getattr(told, "body", None), Mapping) else {}
    param, message = str(body.get("param") or ""), str(body.get("message") or told).lower()
    if param == "max_tokens" or "max_completion_tokens" in message:
        return _unless_same(used, replace(used, renames={"max_tokens": "max_completion_tokens"}))
    if "temperature" in (param or message):
        return _unless_same(used, replace(used, drops=used.drops | {"temperature"}))
    if used.way is not None and any(word in f"{param} {message}" for word in _OF_SCHEMAS):
        return replace(used, way=used.way.next)
    return None


def _unless_same(used: ModelCapabilities, better: ModelCapabilities) -> ModelCapabilities | None:
    return None if used == better else better


_OF_SCHEMAS = ("response_format", "json_schema", "json_object", "tool", "function", "schema", "structured", "grammar")
