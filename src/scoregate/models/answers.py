"""From the body of a chat completion to a generation, or to the error that says why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from scoregate.core.evaluation import Usage
from scoregate.errors import ContentFiltered, MalformedAnswer, ScoregateError
from scoregate.models.calls import Answer
from scoregate.models.model import Generation
from scoregate.models.structured import read

if TYPE_CHECKING:
    from pydantic import BaseModel


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
