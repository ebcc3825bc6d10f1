"""Conversations with the endpoint under test: turns, the reason of the end, and the transcript for judges."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import field, replace
from enum import StrEnum
from textwrap import indent
from typing import Any, Protocol

from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import truncate_middle


@record
class Turn:
    """One message of the user and the answer.

    Attributes:
        user: the message of the user.
        assistant: the answer.
        reasoning: why the simulated user wrote the message.
        duration_ms: the time until the answer, in milliseconds.
        context: the documents that the assistant looked up.
        tool_calls: the tool calls of the assistant.
        metadata: other data of the answer.
    """

    user: str
    assistant: str
    reasoning: str = ""
    duration_ms: float | None = None
    context: Sequence[str] = ()
    tool_calls: Sequence[Mapping[str, Any]] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The turn as plain data for the record, without empty fields."""
        data = {name: getattr(self, name) for name in _CHECKS}
        data |= {name: list(data[name]) for name in _LISTS} | {"metadata": dict(self.metadata)}
        return {name: value for name, value in data.items() if name in _ROLES or value not in (None, "", [], {})}

    @staticmethod
    def read(value: object) -> Turn | None:
        """Read a turn from the result of `plain`; None for any other value."""
        if not isinstance(value, Mapping) or not _ROLES <= value.keys() <= _CHECKS.keys():
            return None
        if not all(_CHECKS[name](each) for name, each in value.items()):
            return None
        data: dict[str, Any] = {name: tuple(each) if name in _LISTS else each for name, each in value.items()}
        return Turn(**data)


def is_list_of(kind: type, value: object) -> bool:
    """Whether a value is a list whose items all have this type."""
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


_NO_DETAILS = "… context and metadata of the answers left out …"


def render_transcript(turns: Sequence[Turn], longest: int) -> str:
    """Render turns as text.

    Messages are indented, so that no message can imitate the heading of another. If the text is too long, messages are
    truncated in the middle. If it is still too long, the context and metadata of the answers are left out, then turns
    in the middle of the conversation.

    Args:
        turns: the turns, in order.
        longest: the maximum length in characters, at least 900.
    """
    rendered = [_render_turn(number, turn, longest) for number, turn in enumerate(turns, 1)]
    if _fits(rendered, longest):
        return "\n".join(rendered)
    truncated = [_render_turn(number, turn, longest // 10) for number, turn in enumerate(turns, 1)]
    if not any(turn.context or turn.metadata for turn in turns):
        return "\n".join(_first_and_last(truncated, longest))
    if _fits(truncated, longest):
        return "\n".join(truncated)
    messages = render_transcript(without_details(turns), longest - len(_NO_DETAILS) - 1)
    return f"{_NO_DETAILS}\n{messages}"


def _fits(rendered: Sequence[str], longest: int) -> bool:
    return sum(map(len, rendered)) + len(rendered) <= longest


def without_details(turns: Sequence[Turn]) -> list[Turn]:
    """The same turns without the context and the metadata of the answers."""
    return [replace(turn, context=(), metadata={}) for turn in turns]


def _render_turn(number: int, turn: Turn, longest: int) -> str:
    return "\n".join(
        f"Turn {number}, {who}:\n{indent(truncate_middle(text, longest), '  ')}" for who, text in _messages(turn)
    )


def _messages(turn: Turn) -> Iterator[tuple[str, str]]:
    yield "user", turn.user
    if turn.tool_calls:
        yield "tools that the assistant called", _dump_lines(turn.tool_calls)
    if turn.context:
        yield "context of the answer", _dump_lines(turn.context)
    yield "assistant", turn.assistant
    if turn.metadata:
        yield "metadata of the answer", _dump_lines([turn.metadata])


def _dump_lines(values: Sequence[Any]) -> str:
    return "\n".join(json.dumps(value, ensure_ascii=False, default=str) for value in values)


def _first_and_last(turns: Sequence[str], longest: int) -> list[str]:
    """The first and the last turns that fit into `longest` characters, alternately chosen."""
    first, last = list[str](), list[str]()
    remaining, space = deque(turns), longest - _NOTE
    while remaining:
        from_start = len(first) <= len(last)
        space -= len(remaining[0] if from_start else remaining[-1]) + 1
        if space < 0:
            break
        if from_start:
            first.append(remaining.popleft())
        else:
            last.append(remaining.pop())
    return [*first, *([f"… {len(remaining):,} turns left out …"] if remaining else []), *reversed(last)]


__all__ = ["LONGEST_TEXT", "Conversation", "EndReason", "GoalVerdict", "Turn"]

LONGEST_TEXT = 20_000
_TYPE = "conversation"


class EndReason(StrEnum):
    """Why a conversation ended."""

    GOAL = "goal"
    IMPOSSIBLE = "impossible"
    MAX_TURNS = "max_turns"
    TOOL_LIMIT = "tool_limit"
    LOOP = "loop"
    TIMEOUT = "timeout"


@record
class Conversation:
    """A conversation.

    Attributes:
        turns: the turns, in order.
        ended: why it ended; None if it goes on, or if an error interrupted it.
        goal_achieved: whether the user reached the goal; None if unknown.
        findings: what the simulated user noticed.
    """

    turns: tuple[Turn, ...]
    ended: EndReason | None = None
    goal_achieved: bool | None = None
    findings: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """The conversation as plain data for the record."""
        return {
            "type": _TYPE,
            "turns": [turn.plain() for turn in self.turns],
            "ended": None if self.ended is None else str(self.ended),
            "goal_achieved": self.goal_achieved,
            "findings": list(self.findings),
        }

    @staticmethod
    def read(value: object) -> Conversation | None:
        """Read a conversation from the result of `plain`, also after JSON; None for any other value."""
        match value:
            case {
                "type": str(kind),
                "turns": list(turn_data),
                "ended": ended,
                "goal_achieved": None | bool() as achieved,
                "findings": list(findings),
                **more,
            } if kind == _TYPE and not more and ended in (None, *EndReason) and is_list_of(str, findings):
                turns = [turn for each in turn_data if (turn := Turn.read(each)) is not None]
                reason = None if ended is None else EndReason(ended)
                is_complete = len(turns) == len(turn_data)
                return Conversation(tuple(turns), reason, achieved, tuple(findings)) if is_complete else None
        return None

    def messages(self) -> list[dict[str, str]]:
        """The messages in the format of chat models, with a `role` and `content`."""
        pairs = ((("user", turn.user), ("assistant", turn.assistant)) for turn in self.turns)
        return [{"role": role, "content": text} for pair in pairs for role, text in pair]

    def text(self, longest: int = LONGEST_TEXT) -> str:
        """The transcript for judges, in at most `longest` characters (at least 1,000)."""
        return render_transcript(self.turns, longest)


@record
class GoalVerdict:
    """Whether a conversation has reached its goal so far; `score`, in [0, 1], is the degree."""

    achieved: bool
    score: float | None = None
    reason: str = ""


@record
class Reply:
    """The answer to one message.

    Attributes:
        output: the output to judge: text, or any value with a JSON form.
        conversation_id: the id of the conversation at the endpoint.
        context: the documents that the endpoint looked up, as it reports them.
        metadata: other data of the answer.
        tool_calls: the tool calls that the endpoint reports.
        trace: the steps as the record has them; None without.
    """

    output: Any
    conversation_id: str | None = None
    context: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tool_calls: Sequence[Mapping[str, Any]] = ()
    trace: Any = None

    @property
    def text(self) -> str:
        """The output as a message of a conversation: text unchanged, other values as JSON."""
        if isinstance(self.output, str):
            return self.output
        return json.dumps(self.output, ensure_ascii=False, default=str)


class Session(Protocol):
    """One conversation; the other side remembers the earlier messages."""

    async def send(self, message: str) -> Reply:
        """Send a message and wait for the answer.

        Raises:
            EndpointError: there is no answer that can be judged.
        """
        ...


class Target(Protocol):
    """An endpoint that can hold many conversations at a time."""

    @property
    def name(self) -> str:
        """The name of the endpoint in records."""
        ...

    def session(self) -> AbstractAsyncContextManager[Session]:
        """Open a conversation for the length of the block."""
        ...
