"""A recorded conversation as reports print it: who said what in which turn, and how it ended."""

from __future__ import annotations

from dataclasses import replace

from scoregate.ci.report import numbers
from scoregate.ci.report.text import excerpt, one_line, visible
from scoregate.core.conversation import Conversation, Ended
from scoregate.core.cutting import cut

_FINDINGS, _FINDING = 10, 200
_ENDINGS = {
    Ended.GOAL: "the user was done",
    Ended.IMPOSSIBLE: "given up as out of reach",
    Ended.MAX_TURNS: "no turns left",
    Ended.TOOL_LIMIT: "too many calls of tools",
    Ended.LOOP: "it went round in circles",
    Ended.TIMEOUT: "out of time",
    None: "broken off by an error",
}
_GOALS = {True: "goal achieved", False: "goal not achieved", None: ""}


def transcript(conversation: Conversation, limit: int) -> str:
    """All of it, what cannot be seen written as escapes, in at most `limit` characters (4,000 at least)."""
    told = [course(conversation), *(one_line(each, _FINDING) for each in conversation.findings[:_FINDINGS])]
    end = "\n".join(f"({line})" for line in told)
    turns = (
        replace(turn, user=_shown(turn.user, limit), assistant=_shown(turn.assistant, limit))
        for turn in conversation.turns
    )
    said = visible(Conversation(tuple(turns)).text(limit - len(end) - 1))
    return excerpt(f"{said}\n{end}" if said else end, limit)


def course(conversation: Conversation) -> str:
    """How long it was and how it ended, in a few words: `3 turns, goal not achieved, no turns left`."""
    met = conversation.goal_achieved
    why = "" if met and conversation.ended is Ended.GOAL else _ENDINGS[conversation.ended]
    parts = (numbers.count(len(conversation.turns), "turn"), _GOALS[met], why)
    return ", ".join(part for part in parts if part)


def _shown(text: str, limit: int) -> str:
    return visible(cut(text, 4 * limit))
