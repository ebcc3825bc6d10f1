"""A conversation that was had with what is under test: its turns, and why it ended."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from textwrap import indent
from typing import Any, Protocol

from scoregate.core.text import truncate_middle


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

    def plain(self) -> dict[str, Any]:
        """As plain data, for the record; what is empty is left out."""
        told = {name: getattr(self, name) for name in _CHECKS}
        told |= {name: list(told[name]) for name in _LISTS} | {"metadata": dict(self.metadata)}
        return {name: value for name, value in told.items() if name in _ROLES or value not in (None, "", [], {})}

    @staticmethod
    def read(value: object) -> Turn | None:
        """The turn that `plain` made this of; None where it is anything else."""
        if not isinstance(value, Mapping) or not _ROLES <= value.keys() <= _CHECKS.keys():
            return None
        if not all(_CHECKS[name](each) for name, each in value.items()):
            return None
        given: dict[str, Any] = {name: tuple(each) if name in _LISTS else each for name, each in value.items()}
        return Turn(**given)


def is_list_of(kind: type, value: object) -> bool:
    """Whether it is a list, and every item of this kind."""
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)


_ROLES = {"user", "assistant"}
_LISTS = {"context", "tool_calls"}
_CHECKS: dict[str, Callable[[Any], bool]] = {
    "user": lambda value: isinstance(value, str),
    "assistant": lambda value: isinstance(value, str),
    "reasoning": lambda value: isinstance(value, str),
    "duration_ms": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "context": lambda value: is_list_of(str, value),
    "tool_calls": lambda value: is_list_of(Mapping, value),
    "metadata": lambda value: isinstance(value, Mapping),
}


_NOTE = 60


def render_transcript(turns: Sequence[Turn], longest: int) -> str:
    """The turns in at most `longest` characters (1,000 at least).

    Only what begins a message stands at the margin, so that no message can pretend to be another. Where it is too
    long, messages are cut in their middle, then turns are left out in the middle of the conversation.
    """
    whole = [_render_turn(number, turn, longest) for number, turn in enumerate(turns, 1)]
    if sum(map(len, whole)) + len(whole) <= longest:
        return "\n".join(whole)
    return "\n".join(
        _first_and_last([_render_turn(number, turn, longest // 10) for number, turn in enumerate(turns, 1)], longest)
    )


def _render_turn(number: int, turn: Turn, longest: int) -> str:
    return "\n".join(
        f"Turn {number}, {who}:\n{indent(truncate_middle(text, longest), '  ')}" for who, text in _messages(turn)
    )


def _messages(turn: Turn) -> Iterator[tuple[str, str]]:
    yield "user", turn.user
    if turn.tool_calls:
        calls = (json.dumps(call, ensure_ascii=False, default=str) for call in turn.tool_calls)
        yield "tools that the assistant called", "\n".join(calls)
    yield "assistant", turn.assistant


def _first_and_last(turns: Sequence[str], longest: int) -> list[str]:
    """As many turns of the beginning and the end as there is room for."""
    first, last = list[str](), list[str]()
    left, room = deque(turns), longest - _NOTE
    while left:
        side, take, turn = (first, left.popleft, left[0]) if len(first) <= len(last) else (last, left.pop, left[-1])
        if (room := room - len(turn) - 1) < 0:
            break
        side.append(take())
    return [*first, *([f"… {len(left):,} turns left out …"] if left else []), *reversed(last)]


__all__ = ["LONGEST_TEXT", "Conversation", "EndReason", "GoalVerdict", "Turn"]

LONGEST_TEXT = 20_000
_TYPE = "conversation"


class EndReason(StrEnum):
    """Why a conversation was over."""

    GOAL = "goal"
    IMPOSSIBLE = "impossible"
    MAX_TURNS = "max_turns"
    TOOL_LIMIT = "tool_limit"
    LOOP = "loop"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Conversation:
    """All turns, in their order.

    `ended` is None while it goes on, and where an error broke it off; `goal_achieved` where nobody could tell.
    """

    turns: tuple[Turn, ...]
    ended: EndReason | None = None
    goal_achieved: bool | None = None
    findings: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """As plain data, for the record."""
        return {
            "type": _TYPE,
            "turns": [turn.plain() for turn in self.turns],
            "ended": None if self.ended is None else str(self.ended),
            "goal_achieved": self.goal_achieved,
            "findings": list(self.findings),
        }

    @staticmethod
    def read(value: object) -> Conversation | None:
        """The conversation that `plain` made this of, also once it was JSON; None where it is anything else."""
        match value:
            case {
                "type": str(kind),
                "turns": list(told),
                "ended": ended,
                "goal_achieved": None | bool() as achieved,
                "findings": list(findings),
                **more,
            } if kind == _TYPE and not more and ended in (None, *EndReason) and is_list_of(str, findings):
                turns = [turn for each in told if (turn := Turn.read(each)) is not None]
                ending = None if ended is None else EndReason(ended)
                whole = len(turns) == len(told)
                return Conversation(tuple(turns), ending, achieved, tuple(findings)) if whole else None
        return None

    def messages(self) -> list[dict[str, str]]:
        """As models know conversations: messages with a `role` and `content`."""
        said = ((("user", turn.user), ("assistant", turn.assistant)) for turn in self.turns)
        return [{"role": role, "content": text} for pair in said for role, text in pair]

    def text(self, longest: int = LONGEST_TEXT) -> str:
        """As judges read it: who said what in which turn, in at most `longest` characters (1,000 at least)."""
        return render_transcript(self.turns, longest)


@dataclass(frozen=True, slots=True)
class GoalVerdict:
    """Whether a conversation, as far as it went, has met its goal; `score` in [0, 1] says how nearly."""

    achieved: bool
    score: float | None = None
    reason: str = ""


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
