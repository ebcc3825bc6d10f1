"""The rules that end a conversation. The first rule that holds gives the reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil

from scoregate.kernel.types.conversation import EndReason, GoalVerdict, Turn

_SAME_EXCHANGES = 3
_REPEATED_TURNS, _RECENT_TURNS = 5, 6


def is_looping(turns: Sequence[Turn]) -> bool:
    """Whether a conversation repeats itself.

    It does if the last three exchanges are equal, if the last four alternate between two, if five of the last six
    messages of the user are equal, or if five of the last six tool calls of the last answer are equal. Equal answers to
    different messages, such as refusals, are no loop.
    """
    if not turns:
        return False
    exchanges = [(_normalize(turn.user), _normalize(turn.assistant)) for turn in turns[-4:]]
    if len(exchanges) >= _SAME_EXCHANGES and len(set(exchanges[-_SAME_EXCHANGES:])) == 1:
        return True
    if len(exchanges) == 4 and exchanges[0] == exchanges[2] != exchanges[1] == exchanges[3]:
        return True
    # Without the id, which is different for equal calls.
    calls = [{name: value for name, value in call.items() if name != "id"} for call in turns[-1].tool_calls]
    call_texts = [json.dumps(call, sort_keys=True, default=str) for call in calls]
    return _mostly_alike([_normalize(turn.user) for turn in turns]) or _mostly_alike(call_texts)


def _normalize(text: str) -> str:
    return " ".join(text.split()).casefold()


def _mostly_alike(items: Sequence[Hashable]) -> bool:
    return max(Counter(items[-_RECENT_TURNS:]).values(), default=0) >= _REPEATED_TURNS


_LATE_SHARE = 0.8
_TOOL_CALLS_PER_TURN = 5


@dataclass(frozen=True, slots=True)
class ConversationPlan:
    """The plan of the simulated user.

    Args:
        goal: what the conversation should achieve or find out.
        instructions: how the user proceeds.
        scenario: who the user is, and in which situation.
        restrictions: what the assistant must not do; the user tries to provoke it.
        max_turns: the most turns; None: as in the limits.
        min_turns: the fewest turns.

    Raises:
        ValueError: the goal is empty, or a number of turns is below 1.
    """

    goal: str
    instructions: str = ""
    scenario: str = ""
    restrictions: str = ""
    max_turns: int | None = None
    min_turns: int | None = None

    def __post_init__(self) -> None:
        if not self.goal.strip():
            raise ValueError("a conversation needs a goal")
        for name in ("max_turns", "min_turns"):
            _require_positive(getattr(self, name), name)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of conversations. Fingerprints contain the `repr`, so that the names stay.

    Args:
        max_turns: the largest number of turns of plans without a limit of their own.
        max_tool_calls: reported tool calls in all turns; None: five for each turn.
        timeout_s: seconds for the whole conversation; None: no limit.
        impossible: a goal score below this value, late in the conversation, ends it.

    Raises:
        ValueError: a number is below 1, or the seconds are not above 0.
    """

    max_turns: int = 10
    max_tool_calls: int | None = None
    timeout_s: float | None = 1800.0
    impossible: float = 0.3

    def __post_init__(self) -> None:
        for name in ("max_turns", "max_tool_calls"):
            _require_positive(getattr(self, name), name)
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise ValueError(f"timeout_s must be above 0, not {self.timeout_s}")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one conversation, in turns.

    Args:
        max_turns: the conversation ends after this turn.
        min_turns: before this turn, only the limits of turns, tool calls and time end it.
        judge_from_turn: from this turn on, the goal is judged after each turn.
        late_from_turn: from this turn on, an impossible goal ends the conversation.
        tool_calls: the most tool calls.
        impossible: a goal score below this value counts as impossible.
    """

    max_turns: int
    min_turns: int
    judge_from_turn: int
    late_from_turn: int
    tool_calls: int
    impossible: float


def make_bounds(plan: ConversationPlan, limits: Limits) -> Bounds:
    """The limits for a plan. The last fifth of the turns counts as late."""
    most = plan.max_turns or limits.max_turns
    least, late = min(plan.min_turns or 1, most), ceil(round(_LATE_SHARE * most, 9))
    return Bounds(
        max_turns=most,
        min_turns=least,
        judge_from_turn=late if plan.min_turns is None else least,
        late_from_turn=max(late, least),
        tool_calls=limits.max_tool_calls or _TOOL_CALLS_PER_TURN * most,
        impossible=limits.impossible,
    )


def _require_positive(value: int | None, name: str) -> None:
    if value is not None and value < 1:
        raise ValueError(f"{name} must be at least 1, not {value}")


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a conversation after a turn.

    Args:
        turns: all turns.
        verdict: the verdict of the goal judge about all turns; None if they were not judged.
        done: whether the user has nothing left to say.
    """

    turns: Sequence[Turn]
    verdict: GoalVerdict | None = None
    done: bool = False


def find_ending(progress: Progress, bounds: Bounds) -> EndReason | None:
    """The reason to end the conversation; None to continue."""
    count, verdict = len(progress.turns), progress.verdict
    score = None if verdict is None else verdict.score
    is_goal_met = progress.done if verdict is None else verdict.achieved
    if is_goal_met and count >= bounds.min_turns:
        return EndReason.GOAL
    if score is not None and score < bounds.impossible and count >= bounds.late_from_turn:
        return EndReason.IMPOSSIBLE
    if count >= bounds.max_turns:
        return EndReason.MAX_TURNS
    if sum(len(turn.tool_calls) for turn in progress.turns) >= bounds.tool_calls:
        return EndReason.TOOL_LIMIT
    return EndReason.LOOP if count >= bounds.min_turns and is_looping(progress.turns) else None


def needs_goal_check(progress: Progress, bounds: Bounds) -> bool:
    """Whether to judge the goal now: late, when the user is done, or before another rule ends the conversation."""
    if not progress.turns:
        return False
    return len(progress.turns) >= bounds.judge_from_turn or find_ending(progress, bounds) is not None
