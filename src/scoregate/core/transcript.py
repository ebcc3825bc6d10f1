"""A conversation as text that models judge: who said what in which turn, made to fit."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from textwrap import indent

from scoregate.core.cutting import cut
from scoregate.core.turn import Turn

_NOTE = 60


def transcript(turns: Sequence[Turn], longest: int) -> str:
    """The turns in at most `longest` characters (1,000 at least).

    Only what begins a message stands at the margin, so that no message can pretend to be another. Where it is too
    long, messages are cut in their middle, then turns are left out in the middle of the conversation.
    """
    whole = [_spoken(number, turn, longest) for number, turn in enumerate(turns, 1)]
    if sum(map(len, whole)) + len(whole) <= longest:
        return "\n".join(whole)
    return "\n".join(_ends([_spoken(number, turn, longest // 10) for number, turn in enumerate(turns, 1)], longest))


def _spoken(number: int, turn: Turn, longest: int) -> str:
    return "\n".join(f"Turn {number}, {who}:\n{indent(cut(text, longest), '  ')}" for who, text in _messages(turn))


def _messages(turn: Turn) -> Iterator[tuple[str, str]]:
    yield "user", turn.user
    if turn.tool_calls:
        calls = (json.dumps(call, ensure_ascii=False, default=str) for call in turn.tool_calls)
        yield "tools that the assistant called", "\n".join(calls)
    yield "assistant", turn.assistant


def _ends(turns: Sequence[str], longest: int) -> list[str]:
    """As many turns of the beginning and the end as there is room for."""
    first, last = list[str](), list[str]()
    left, room = deque(turns), longest - _NOTE
    while left:
        side, take, turn = (first, left.popleft, left[0]) if len(first) <= len(last) else (last, left.pop, left[-1])
        if (room := room - len(turn) - 1) < 0:
            break
        side.append(take())
    return [*first, *([f"… {len(left):,} turns left out …"] if left else []), *reversed(last)]
