"""What is under test, as those who talk to it see it: it is sent messages, and each has a reply."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one message.

    `output` is what is judged, text or anything with a JSON form; `conversation_id` is what the other side calls the
    conversation; `context` is what it says that it looked up; `tool_calls` are those that it tells of.
    """

    output: Any
    conversation_id: str | None = None
    context: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tool_calls: Sequence[Mapping[str, Any]] = ()

    @property
    def text(self) -> str:
        """The output as a message in a conversation: text as it is, all else as JSON."""
        if isinstance(self.output, str):
            return self.output
        return json.dumps(self.output, ensure_ascii=False, default=str)


class Session(Protocol):
    """One conversation: later messages know of the earlier ones."""

    async def send(self, message: str) -> Reply:
        """Say this, and wait for what comes back.

        Raises:
            EndpointError: nothing came back that can be judged.
        """
        ...


class Target(Protocol):
    """Something that conversations can be had with; safe for many at a time."""

    @property
    def name(self) -> str:
        """What it is called in records."""
        ...

    def session(self) -> AbstractAsyncContextManager[Session]:
        """A conversation of its own, as long as the block lasts."""
        ...
