"""A conversation that was had with what is under test: its turns, and why it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from scoregate.core.transcript import transcript
from scoregate.core.turn import Turn, is_list_of

__all__ = ["LONGEST_TEXT", "Conversation", "Ended", "GoalVerdict", "Turn"]

LONGEST_TEXT = 20_000
_TYPE = "conversation"


class Ended(StrEnum):
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
    ended: Ended | None = None
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
            } if kind == _TYPE and not more and ended in (None, *Ended) and is_list_of(str, findings):
                turns = [turn for each in told if (turn := Turn.read(each)) is not None]
                ending = None if ended is None else Ended(ended)
                whole = len(turns) == len(told)
                return Conversation(tuple(turns), ending, achieved, tuple(findings)) if whole else None
        return None

    def messages(self) -> list[dict[str, str]]:
        """As models know conversations: messages with a `role` and `content`."""
        said = ((("user", turn.user), ("assistant", turn.assistant)) for turn in self.turns)
        return [{"role": role, "content": text} for pair in said for role, text in pair]

    def text(self, longest: int = LONGEST_TEXT) -> str:
        """As judges read it: who said what in which turn, in at most `longest` characters (1,000 at least)."""
        return transcript(self.turns, longest)


@dataclass(frozen=True, slots=True)
class GoalVerdict:
    """Whether a conversation, as far as it went, has met its goal; `score` in [0, 1] says how nearly."""

    achieved: bool
    score: float | None = None
    reason: str = ""
