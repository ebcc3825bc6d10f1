"""A conversation that was had with what is under test: its turns, and why it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Ended(StrEnum):
    """Why a conversation was over."""

    GOAL = "goal"
    IMPOSSIBLE = "impossible"
    MAX_TURNS = "max_turns"
    TOOL_LIMIT = "tool_limit"
    LOOP = "loop"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user said and what came back, the turns counted from 1. `reasoning` is why the user said so."""

    user: str
    assistant: str
    reasoning: str = ""
    duration_ms: float | None = None
    context: Sequence[str] = ()
    tool_calls: Sequence[Mapping[str, Any]] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """All turns, in their order. `goal_achieved` is None where nobody could tell."""

    turns: tuple[Turn, ...]
    ended: Ended
    goal_achieved: bool | None = None
    findings: tuple[str, ...] = ()
