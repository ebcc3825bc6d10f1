"""A reply, out of the fields that were found in an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from scoregate.core.target import Reply
from scoregate.endpoints.answers import Answer, Finder, NotJson
from scoregate.endpoints.names import CONVERSATION
from scoregate.endpoints.surroundings import Surroundings

_ADVICE = 'See `response_mapping`: it names where in the answer the output is, such as output = "$.answer".'


def reply_of(answer: Answer, fields: Mapping[str, Finder], surroundings: Surroundings) -> tuple[Reply, Any]:
    """The reply, and the id of the conversation as the other side wrote it.

    Raises:
        EndpointError: the answer is no JSON though it had to be, or there is no output in it.
    """
    found = _found(answer, fields, surroundings)
    if (output := found.pop("output")) is None:
        said = "no output is where the mapping of responses says in the answer"
        raise surroundings.fail(said, kind="mapping_error", body=answer.text, advice=_ADVICE)
    identity = _identity(found, surroundings)
    reply = Reply(
        output=output,
        conversation_id=None if identity is None else str(identity),
        context=_texts(found.pop("context", None)),
        tool_calls=tuple(call for call in _list(found.pop("tool_calls", None)) if isinstance(call, Mapping)),
        metadata={**_metadata(found.pop("metadata", None)), **found},
    )
    return reply, identity


def _found(answer: Answer, fields: Mapping[str, Finder], surroundings: Surroundings) -> dict[str, Any]:
    try:
        return {name: find(answer) for name, find in fields.items()}
    except NotJson as error:
        kind, what = "json_parsing_error", f"the answer is no JSON ({error})"
        raise surroundings.fail(what, kind=kind, body=answer.text, advice=_ADVICE) from None
    except Exception as error:  # whatever a template may raise
        what = f"the mapping of responses cannot be applied: {type(error).__name__}: {error!s:.200}"
        raise surroundings.fail(what, kind="mapping_error", body=answer.text, advice=_ADVICE) from None


def _identity(found: dict[str, Any], surroundings: Surroundings) -> Any:
    """The first name of the conversation that has a value."""
    values = [found.pop(name) for name in CONVERSATION if name in found]
    identity = next((value for value in values if value not in (None, "")), None)
    if isinstance(identity, dict | list):
        raise surroundings.fail("the id of the conversation is no text and no number", kind="mapping_error")
    return identity


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(each if isinstance(each, str) else json.dumps(each, default=str) for each in _list(value))


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _metadata(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"value": value}
    if value is None or isinstance(value, Mapping):
        return value or {}
    return {"value": value}
