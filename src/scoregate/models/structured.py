"""Answers that are instances of a schema: how they are asked for, and how they are read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scoregate.errors import MalformedAnswer

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
