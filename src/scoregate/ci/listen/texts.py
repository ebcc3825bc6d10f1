"""Texts of a foreign SDK as we keep them: bounded, whatever was sent in their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.ci.listen.advice import advice_for
from scoregate.core.parts import MAX_MESSAGE, MAX_TRACEBACK, ErrorInfo, bounded
from scoregate.core.wire import dump

_LONGEST_NAME = 200


def error_info(said: Any) -> ErrorInfo:
    """What an SDK says of an exception, with our advice where we know one."""
    parts = said if isinstance(said, Mapping) else {"message": said}
    name = text(parts.get("name"), _LONGEST_NAME) or "Error"
    message = text(parts.get("message"), MAX_MESSAGE)
    return ErrorInfo(name, message, text(parts.get("stacktrace"), MAX_TRACEBACK), advice_for(message))


def text(value: Any, limit: int) -> str:
    """A text of about `limit` characters at most; nothing for null, JSON for what is no text."""
    if value is None:
        return ""
    return bounded(value if isinstance(value, str) else dump(value).decode(), limit)
