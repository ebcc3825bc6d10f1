"""What a conversation is for, and how far it may go."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

_LATE = 0.8
_TOOL_CALLS = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """What the simulated user is after.

    Args:
        goal: what the conversation is to bring about, or to find out.
        instructions: how the user goes about it. scenario: who it is, and in what situation.
        restrictions: what the assistant under test must not do; the user tries whether it does.
        max_turns, min_turns: of this conversation; None leaves them to the limits.

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
    """How far conversations may go.

    Args:
        max_turns: where the plan has none of its own.
        max_tool_calls: those that the assistant tells of, over all turns; None allows five for each turn there may be.
        timeout_s: seconds for the whole conversation; None for ever.
        impossible: the goal counts as out of reach where its score is below this late in the conversation.

    Raises:
        ValueError: a number is below 1, or not above 0 for the seconds.
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

    Nothing but the turns, the tool calls and the time ends it before `least`; from `judged` on the goal is judged
    after each turn; from `late` on it may prove impossible.
    """

    most: int
    least: int
    judged: int
    late: int
    tool_calls: int
    impossible: float


def bounds(plan: Plan, limits: Limits) -> Bounds:
    """What holds for a plan: of the most turns, the last fifth is late, and more than that are never the least."""
    most = plan.max_turns or limits.max_turns
    least, late = min(plan.min_turns or 1, most), ceil(round(_LATE * most, 9))
    return Bounds(
        most=most,
        least=least,
        judged=late if plan.min_turns is None else least,
        late=max(late, least),
        tool_calls=limits.max_tool_calls or _TOOL_CALLS * most,
        impossible=limits.impossible,
    )


def _require_positive(value: int | None, name: str) -> None:
    if value is not None and value < 1:
        raise ValueError(f"{name} must be at least 1, not {value}")
