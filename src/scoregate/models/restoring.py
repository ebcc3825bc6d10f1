"""Stored answers as the openai package would have made them."""

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


def is_answer(table: Mapping[str, Any]) -> bool:
    """Whether it may be kept: no error, and nothing that a filter stopped."""
    choices = table.get("choices") or ()
    return not table.get("error") and all(choice.get("finish_reason") != "content_filter" for choice in choices)
