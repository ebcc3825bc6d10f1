"""The failed turns of a conversation, next to those of the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any

from scoregate.kernel.report.excerpts import describe_conversation
from scoregate.kernel.report.text import excerpt, one_line
from scoregate.kernel.types.conversation import Conversation
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseResult

_MAX_TURNS, _MAX_MESSAGE = 50, 2000
_SHOWN, _CELL, _BEFORE = 3, 400, 80


@record
class FailedTurns:
    """The first turns of a conversation, each as user and assistant, and its description in a few words.

    `failed` are the turns, from 1, that failed evaluations name.
    """

    turns: tuple[tuple[str, str], ...]
    summary: str
    failed: tuple[int, ...]

    def turn(self, number: int) -> tuple[str, str] | None:
        """The messages of a turn; None if there is no such turn, or it was not kept."""
        return self.turns[number - 1] if number <= len(self.turns) else None


@record
class TurnLine:
    """One message of a turn, on one line; `base` is None if the baseline has no such turn."""

    turn: int
    role: str
    now: str
    base: str | None = None


@record
class ConversationView:
    """The failed turns of a conversation: `difference` says where it failed, `lines` are these turns.

    `base_summary` is None if the baseline has no such conversation.
    """

    difference: str
    lines: tuple[TurnLine, ...]
    summary: str
    base_summary: str | None = None


def find_failed_turns(case: CaseResult) -> FailedTurns | None:
    """Find the failed turns of a case whose output is a conversation; None for other outputs."""
    if (conversation := Conversation.read(case.output)) is None:
        return None
    turns = (
        (excerpt(turn.user, _MAX_MESSAGE), excerpt(turn.assistant, _MAX_MESSAGE))
        for turn in conversation.turns[:_MAX_TURNS]
    )
    numbers: set[int] = set()
    for evaluation in case.evaluations.values():
        if evaluation.passed is False:
            unmet = (each.metadata for each in evaluation.assertions or () if not each.passed)
            numbers |= _turn_numbers(unmet) or _turn_numbers([evaluation.metadata])
    return FailedTurns(
        tuple(turns),
        describe_conversation(conversation),
        tuple(sorted(numbers & set(range(1, len(conversation.turns) + 1)))),
    )


def build_conversation(now: FailedTurns, before: FailedTurns | None) -> ConversationView:
    """Build the view of a conversation: the turns that failed evaluations name, else the first different answer.

    Of the named turns, those with different answers are shown, if there are any.
    """
    different: list[int] = []
    if before is not None:
        for number, (_, answer) in enumerate(now.turns, 1):
            old = before.turn(number)
            if old is None or old[1].split() != answer.split():
                different.append(number)
    failed = [number for number in now.failed if number <= len(now.turns)]
    named = [number for number in failed if number in different] or failed
    turns = named[:_SHOWN] or different[:1]
    lines = []
    for number in turns:
        old = before.turn(number) if before else None
        for role, message, base in zip(("user", "assistant"), now.turns[number - 1], old or (None, None), strict=True):
            shown = _shorten_around_difference(message, base or "")
            base_shown = None if base is None else _shorten_around_difference(base, message)
            lines.append(TurnLine(number, role, shown, base_shown))
    base_summary = before.summary if before else None
    return ConversationView(_describe_difference(named, different), tuple(lines), now.summary, base_summary)


def _turn_numbers(metadata: Iterable[Any]) -> set[int]:
    values = (each.get("relevant_turns") for each in metadata if isinstance(each, Mapping))
    lists = (each for each in values if isinstance(each, list | tuple))
    return {number for each in lists for number in each if isinstance(number, int) and not isinstance(number, bool)}


def _describe_difference(named: list[int], different: list[int]) -> str:
    if len(named) > 1:
        hidden = len(named) - _SHOWN
        *first, last = [*map(str, named[:_SHOWN]), *([f"{hidden} more"] if hidden > 0 else [])]
        return f"failed in turns {', '.join(first)} and {last}, according to the judges"
    if named:
        return f"failed in turn {named[0]}, according to the judges"
    return f"answers differ from turn {different[0]} on" if different else ""


def _shorten_around_difference(text: str, other: str) -> str:
    """The text on one line; if it is too long, from shortly before the first difference."""
    line = one_line(text, _MAX_MESSAGE) or "(nothing)"
    if len(line) <= _CELL:
        return line
    pairs = zip(line, one_line(other, _MAX_MESSAGE), strict=False)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) - _BEFORE
    return one_line(line if start < _BEFORE else f"… {line[start:]}", _CELL)
