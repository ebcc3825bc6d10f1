"""The turns at which a conversation went wrong, what was said in the base's beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from scoregate.ci.report.text import excerpt, one_line
from scoregate.ci.report.transcripts import course
from scoregate.core.case import CaseResult
from scoregate.core.conversation import Conversation
from scoregate.core.evaluation import Evaluation

_KEPT, _MESSAGE = 50, 2000
_SHOWN, _CELL, _BEFORE = 3, 400, 80


@dataclass(frozen=True, slots=True)
class Heard:
    """What is kept of a conversation: the first turns, each as user and assistant, and how it went in a few words.

    `pointed` are the turns, from 1, that failed evaluations name.
    """

    turns: tuple[tuple[str, str], ...]
    course: str
    pointed: tuple[int, ...]

    def turn(self, number: int) -> tuple[str, str] | None:
        """Who said what in a turn; None where there is none, or it was not kept."""
        return self.turns[number - 1] if number <= len(self.turns) else None


@dataclass(frozen=True, slots=True)
class Line:
    """Who says what in a turn, on one line; `base` is None where the base has no such turn."""

    turn: int
    who: str
    now: str
    base: str | None = None


@dataclass(frozen=True, slots=True)
class TalkView:
    """`told` says where it went wrong, as far as anybody can say, and `lines` are the turns of which that speaks.

    `base_course` is None where the base has no such conversation.
    """

    told: str
    lines: tuple[Line, ...]
    course: str
    base_course: str | None = None


def heard(case: CaseResult) -> Heard | None:
    """What is kept of a case whose output is a conversation; None of any other."""
    if (had := Conversation.read(case.output)) is None:
        return None
    turns = ((excerpt(turn.user, _MESSAGE), excerpt(turn.assistant, _MESSAGE)) for turn in had.turns[:_KEPT])
    failed = (found for found in case.evaluations.values() if found.passed is False)
    named = {number for found in failed for number in _named(found)}
    return Heard(tuple(turns), course(had), tuple(sorted(named & set(range(1, len(had.turns) + 1)))))


def talk_view(now: Heard, before: Heard | None) -> TalkView:
    """Where a conversation went wrong: in the turns that failed evaluations name, else where it leaves the base's.

    Of the named turns those count in which the answers differ, unless none does.
    """
    fresh = list(_differing(now, before)) if before else []
    kept = [number for number in now.pointed if number <= len(now.turns)]
    named = [number for number in kept if number in fresh] or kept
    turns = named[:_SHOWN] or fresh[:1]
    lines = tuple(line for number in turns for line in _lines(number, now, before))
    return TalkView(_told(named, fresh), lines, now.course, before.course if before else None)


def _named(found: Evaluation) -> set[int]:
    """The turns that unmet criteria name, or else those of the evaluation as a whole."""
    unmet = (each for each in found.assertions or () if not each.passed)
    return _numbers(each.metadata for each in unmet) or _numbers([found.metadata])


def _numbers(metadata: Iterable[Any]) -> set[int]:
    given = (each.get("relevant_turns") for each in metadata if isinstance(each, Mapping))
    lists = (each for each in given if isinstance(each, list | tuple))
    return {number for each in lists for number in each if isinstance(number, int) and not isinstance(number, bool)}


def _differing(now: Heard, before: Heard) -> Iterator[int]:
    for number, (_, answer) in enumerate(now.turns, 1):
        old = before.turn(number)
        if old is None or old[1].split() != answer.split():
            yield number


def _told(named: list[int], fresh: list[int]) -> str:
    if len(named) > 1:
        left = len(named) - _SHOWN
        *first, last = [*map(str, named[:_SHOWN]), *([f"{left} more"] if left > 0 else [])]
        return f"went wrong in turns {', '.join(first)} and {last}, the judges say"
    if named:
        return f"went wrong in turn {named[0]}, the judges say"
    return f"the answers differ from turn {fresh[0]} on" if fresh else ""


def _lines(number: int, now: Heard, before: Heard | None) -> Iterator[Line]:
    old = before.turn(number) if before else None
    for who, said, base in zip(("user", "assistant"), now.turns[number - 1], old or (None, None), strict=True):
        shown = _beside(said, base or "")
        yield Line(number, who, shown, None if base is None else _beside(base, said))


def _beside(text: str, other: str) -> str:
    """A line of it; where it is too long, from a little before where it leaves the other."""
    line = one_line(text, _MESSAGE) or "(nothing)"
    if len(line) <= _CELL:
        return line
    pairs = zip(line, one_line(other, _MESSAGE), strict=False)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) - _BEFORE
    return one_line(line if start < _BEFORE else f"… {line[start:]}", _CELL)
