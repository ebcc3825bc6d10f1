"""Conversations that go round in circles."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from scoregate.core.conversation import Turn

_SAME_EXCHANGES = 3
_SAME, _AMONG = 5, 6


def is_looping(turns: Sequence[Turn]) -> bool:
    """Whether nothing new is to be expected.

    So it is where the last three exchanges are the same, or the last four are two in turn; where the user says five of
    six times the same, whatever comes back; or where the assistant, for its last answer, makes the same call of a tool
    five of six times. That an assistant answers different messages alike, as one that refuses, is no loop.
    """
    exchanges = [(_normal(turn.user), _normal(turn.assistant)) for turn in turns[-4:]]
    if _alike(exchanges) or _alternating(exchanges):
        return True
    return _mostly_alike([_normal(turn.user) for turn in turns]) or _mostly_alike(_calls(turns))


def _normal(text: str) -> str:
    return " ".join(text.split()).casefold()


def _alike(items: Sequence[Hashable]) -> bool:
    return len(items) >= _SAME_EXCHANGES and len(set(items[-_SAME_EXCHANGES:])) == 1


def _alternating(items: Sequence[Hashable]) -> bool:
    return len(items) == 4 and items[0] == items[2] != items[1] == items[3]


def _mostly_alike(items: Sequence[Hashable]) -> bool:
    return max(Counter(items[-_AMONG:]).values(), default=0) >= _SAME


def _calls(turns: Sequence[Turn]) -> list[str]:
    return [_call(call) for call in turns[-1].tool_calls] if turns else []


def _call(call: Mapping[str, Any]) -> str:
    """Each call has an id of its own, which makes it no other call."""
    return json.dumps({name: value for name, value in call.items() if name != "id"}, sort_keys=True, default=str)
