"""The failed turns of a conversation, next to those of the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from scoregate.ci.report.excerpts import describe_conversation
from scoregate.ci.report.text import excerpt, one_line
from scoregate.core.cases import CaseResult
from scoregate.core.conversation import Conversation
from scoregate.core.evaluation import Evaluation

_MAX_TURNS, _MAX_MESSAGE = 50, 2000
_SHOWN, _CELL, _BEFORE = 3, 400, 80


@dataclass(frozen=True, slots=True)
class FailedTurns:
    """The first turns of a conversation, each as user and assistant, and its description in a few words.

    `pointed` are the turns, from 1, that failed evaluations name.
    """

    turns: tuple[tuple[str, str], ...]
    course: str
    pointed: tuple[int, ...]

    def turn(self, number: int) -> tuple[str, str] | None:
        """The messages of a turn; None if there is no such turn, or it was not kept."""
        return self.turns[number - 1] if number <= len(self.turns) else None


@dataclass(frozen=True, slots=True)
class TurnLine:
    """One message of a turn, on one line; `base` is None if the baseline has no such turn."""

    turn: int
    who: str
    now: str
    base: str | None = None


@dataclass(frozen=True, slots=True)
class ConversationView:
    """The failed turns of a conversation: `difference` says where it failed, `lines` are these turns.

    `base_course` is None if the baseline has no such conversation.
    """

    difference: str
    lines: tuple[TurnLine, ...]
    course: str
    base_course: str | None = None


def find_failed_turns(case: CaseResult) -> FailedTurns | None:
    """Find the failed turns of a case whose output is a conversation; None for other outputs."""
    if (conversation := Conversation.read(case.output)) is None:
        return None
    turns = (
        (excerpt(turn.user, _MAX_MESSAGE), excerpt(turn.assistant, _MAX_MESSAGE))
        for turn in conversation.turns[:_MAX_TURNS]
    )
    failed = (found for found in case.evaluations.values() if found.passed is False)
    named = {number for found in failed for number in _named_turns(found)}
    return FailedTurns(
        tuple(turns),
        describe_conversation(conversation),
        tuple(sorted(named & set(range(1, len(conversation.turns) + 1)))),
    )


def build_conversation(now: FailedTurns, before: FailedTurns | None) -> ConversationView:
    """Build the view of a conversation: the turns that failed evaluations name, else the first different answer.

    Of the named turns, those with different answers are shown, if there are any.
    """
    different = list(_differing_turns(now, before)) if before else []
    kept = [number for number in now.pointed if number <= len(now.turns)]
    named = [number for number in kept if number in different] or kept
    turns = named[:_SHOWN] or different[:1]
    lines = tuple(line for number in turns for line in _turn_lines(number, now, before))
    return ConversationView(
        _describe_difference(named, different), lines, now.course, before.course if before else None
    )


def _named_turns(found: Evaluation) -> set[int]:
    """The turns that unmet criteria name, else those of the whole evaluation."""
    unmet = (each for each in found.assertions or () if not each.passed)
    return _turn_numbers(each.metadata for each in unmet) or _turn_numbers([found.metadata])


def _turn_numbers(metadata: Iterable[Any]) -> set[int]:
    given = (each.get("relevant_turns") for each in metadata if isinstance(each, Mapping))
    lists = (each for each in given if isinstance(each, list | tuple))
    return {number for each in lists for number in each if isinstance(number, int) and not isinstance(number, bool)}


def _differing_turns(now: FailedTurns, before: FailedTurns) -> Iterator[int]:
    for number, (_, answer) in enumerate(now.turns, 1):
        old = before.turn(number)
        if old is None or old[1].split() != answer.split():
            yield number


def _describe_difference(named: list[int], different: list[int]) -> str:
    if len(named) > 1:
        left = len(named) - _SHOWN
        *first, last = [*map(str, named[:_SHOWN]), *([f"{left} more"] if left > 0 else [])]
        return f"failed in turns {', '.join(first)} and {last}, according to the judges"
    if named:
        return f"failed in turn {named[0]}, according to the judges"
    return f"answers differ from turn {different[0]} on" if different else ""


def _turn_lines(number: int, now: FailedTurns, before: FailedTurns | None) -> Iterator[TurnLine]:
    old = before.turn(number) if before else None
    for who, message, base in zip(("user", "assistant"), now.turns[number - 1], old or (None, None), strict=True):
        shown = _shorten_around_difference(message, base or "")
        yield TurnLine(number, who, shown, None if base is None else _shorten_around_difference(base, message))


def _shorten_around_difference(text: str, other: str) -> str:
    """The text on one line; if it is too long, from shortly before the first difference."""
    line = one_line(text, _MAX_MESSAGE) or "(nothing)"
    if len(line) <= _CELL:
        return line
    pairs = zip(line, one_line(other, _MAX_MESSAGE), strict=False)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) - _BEFORE
    return one_line(line if start < _BEFORE else f"… {line[start:]}", _CELL)
