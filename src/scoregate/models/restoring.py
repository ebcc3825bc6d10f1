"""Answers as the openai package would have made them: stored ones, and faster than it those that have just come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.models.calls import Answer

CHAT = "/chat/completions"


def restored(answer: Answer, cast_to: Any, parser: Any = None) -> Any:
    """The object of the package's class, put through its parser where there is one."""
    try:
        made = cast_to.model_validate_json(answer.body)
    except ValueError:  # servers leave out what the package declares, and it lets that pass
        made = cast_to.construct(**answer.table)
    return parser(made) if parser else made


def received(response: Any, cast_to: Any, parser: Any = None) -> Any:
    """The same of a response; where it is not quite what the package declares, the package itself makes what it can."""
    try:
        made = cast_to.model_validate_json(response.content)
    except (ValueError, AttributeError):
        return response.parse()
    made._request_id = response.headers.get("x-request-id")
    return parser(made) if parser else made


def is_answer(table: Mapping[str, Any]) -> bool:
    """Whether it may be kept: no error, and nothing that a filter stopped."""
    choices = table.get("choices") or ()
    return not table.get("error") and all(choice.get("finish_reason") != "content_filter" for choice in choices)
