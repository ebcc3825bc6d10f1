"""A conversation as the page shows it, turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scoregate.ci.report.html.room import Room, Shown

_TURNS = 200


def turns(output: Any, room: Room) -> list[tuple[str, Shown | None]] | None:
    """Who said what, where the output is a list of messages; None where it is anything else."""
    messages = output if isinstance(output, Sequence) and not isinstance(output, str) else None
    if not messages or not all(_is_message(each) for each in messages):
        return None
    return [(room.line(str(each["role"])), room.text(each["content"])) for each in messages[:_TURNS]]


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("role"), str) and isinstance(value.get("content"), str)
