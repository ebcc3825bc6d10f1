"""When a conversation is over: one small rule a reason, the first that holds being the one that counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scoregate.conversations.loops import is_looping
from scoregate.conversations.plan import Bounds
from scoregate.core.conversation import Ended, GoalVerdict, Turn


@dataclass(frozen=True, slots=True)
class Standing:
    """How a conversation stands after its last turn. `done`: the user has nothing left to say.

    `verdict` is what was judged of all these turns; None where they were not judged.
    """

    turns: Sequence[Turn]
    verdict: GoalVerdict | None = None
    done: bool = False


Rule: TypeAlias = Callable[[Standing, Bounds], bool]


def _goal(standing: Standing, bounds: Bounds) -> bool:
    met = standing.done if standing.verdict is None else standing.verdict.achieved
    return met and len(standing.turns) >= bounds.least


def _impossible(standing: Standing, bounds: Bounds) -> bool:
    score = None if standing.verdict is None else standing.verdict.score
    return score is not None and score < bounds.impossible and len(standing.turns) >= bounds.late


def _max_turns(standing: Standing, bounds: Bounds) -> bool:
    return len(standing.turns) >= bounds.most


def _tool_limit(standing: Standing, bounds: Bounds) -> bool:
    return sum(len(turn.tool_calls) for turn in standing.turns) >= bounds.tool_calls


def _loop(standing: Standing, bounds: Bounds) -> bool:
    return len(standing.turns) >= bounds.least and is_looping(standing.turns)


RULES: tuple[tuple[Ended, Rule], ...] = (
    (Ended.GOAL, _goal),
    (Ended.IMPOSSIBLE, _impossible),
    (Ended.MAX_TURNS, _max_turns),
    (Ended.TOOL_LIMIT, _tool_limit),
    (Ended.LOOP, _loop),
)


def ending(standing: Standing, bounds: Bounds) -> Ended | None:
    """Why it is over; None where it goes on."""
    return next((why for why, holds in RULES if holds(standing, bounds)), None)


def is_to_be_judged(standing: Standing, bounds: Bounds) -> bool:
    """Whether it matters now if the goal is met: late, where the user is done, and before it ends otherwise."""
    if not standing.turns:
        return False
    return len(standing.turns) >= bounds.judged or ending(standing, bounds) is not None
