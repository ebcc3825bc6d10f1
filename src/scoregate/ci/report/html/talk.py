"""A conversation as the page shows it, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoregate.ci.report.html.room import Room
from scoregate.core.conversation import Conversation, Turn

_TURNS = 200


def talk(output: Any, room: Room) -> dict[str, Any] | None:
    """The turns of a recorded conversation and how it ended; None of any other output."""
    had = Conversation.read(output)
    if had is None:
        return None
    told = {
        "turns": [_turn(turn, room) for turn in had.turns[:_TURNS]],
        "left_out": max(0, len(had.turns) - _TURNS) or None,
        "ended": None if had.ended is None else str(had.ended),
        "goal": had.goal_achieved,
        "findings": [room.line(finding, 500) for finding in had.findings[:_TURNS]],
    }
    return {name: value for name, value in told.items() if value is not None}


def _turn(turn: Turn, room: Room) -> dict[str, Any]:
    told = {
        "user": room.text(turn.user),
        "assistant": room.text(turn.assistant),
        "reasoning": room.text(turn.reasoning or None),
        "ms": turn.duration_ms,
        "context": _values(turn.context, room),
        "calls": _values(turn.tool_calls, room),
        "more": room.text(dict(turn.metadata)) if turn.metadata else None,
    }
    return {name: value for name, value in told.items() if value not in (None, [])}


def _values(values: Sequence[Any], room: Room) -> list[Any]:
    return [room.text(value) for value in values[:_TURNS]]
