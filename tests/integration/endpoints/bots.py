"""Functions that are endpoints."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any


def plain(question: str) -> str:
    return f"heard {question}"


async def waits(message: str, *, session_id: str | None = None) -> dict[str, Any]:
    return {"output": message.upper(), "conversation_id": session_id or "new", "context": "a page"}


def remembers(messages: Sequence[dict[str, str]], system_prompt: str, /) -> str:
    return f"{system_prompt}: {[message['content'] for message in messages]}"


def keyed(*, text: str, loud: bool) -> str:
    return text.upper() if loud else text


def slow(_: str) -> str:
    time.sleep(300)
    return "late"


def fails(_: str) -> str:
    raise KeyError("no such thing")


def leaves(_: str) -> str:
    raise SystemExit(3)


def silent(_: str) -> dict[str, Any]:
    return {"answer": "under another name"}


def asks_more(message: str, database: str) -> str:
    return message + database
