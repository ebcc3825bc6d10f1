"""The compiled form of a mapping: functions from the values of a request to a field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from scoregate.endpoints.context import EndpointContext

RequestValues: TypeAlias = dict[str, Any]

CONVERSATION_NAMES = (
    "conversation_id",
    "session_id",
    "thread_id",
    "chat_id",
    "dialog_id",
    "dialogue_id",
    "context_id",
    "interaction_id",
)
NAMES = frozenset({"input", "messages", "system_prompt", "auth_token", *CONVERSATION_NAMES})
_MARKS = ("{{", "{%", "{#")


def is_template(text: str) -> bool:
    """Whether a text contains Jinja."""
    return any(mark in text for mark in _MARKS)


Filler: TypeAlias = Callable[[RequestValues], Any]


class Omitted:
    """Marks a field to leave out, because it needs the id of a conversation that has none yet."""


OMITTED = Omitted()


class Constant:
    """A filler with a fixed value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, context: RequestValues) -> Any:  # noqa: ARG002 - as a filler is called
        """The value."""
        return self.value


def check_names(used: set[str], endpoint: EndpointContext) -> None:
    """Check that all names exist.

    Raises:
        EndpointError: a name does not exist.
    """
    if unknown := sorted(used - NAMES):
        endpoint.misconfigured(
            f"{', '.join(map(repr, unknown)):.200} in the mapping of requests does not exist",
            f"There are {', '.join(sorted(NAMES))}.",
        )
