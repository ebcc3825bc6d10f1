"""Battles that wait for people, shown so that nobody knows which side is the new one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from scoregate.core.case import CaseResult
from scoregate.store import Verdict, Winner


class Side(StrEnum):
    """Which of two outputs, as a reviewer sees them, is better."""

    LEFT = "left"
    RIGHT = "right"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class Battle:
    """Two outputs of one case; `case` is its hash, `suite` and `name` are what reports call suite and case."""

    evaluator: str
    case: str
    baseline: str
    challenger: str
    suite: str
    name: str
    input: str
    rubric: str

    @property
    def key(self) -> str:
        """Tells it apart, and does not tell which output is which."""
        return digest(self.evaluator, self.case, *sorted((self.baseline, self.challenger)))

    def left(self, seed: str) -> Winner:
        """Which output stands on the left; always the same for one seed, such as a reviewer's name."""
        return (Winner.BASELINE, Winner.CHALLENGER)[int(digest("side", seed, self.key), 16) % 2]

    def texts(self, seed: str) -> tuple[str, str]:
        """The outputs, the left one first."""
        pair = self.baseline, self.challenger
        return pair if self.left(seed) is Winner.BASELINE else pair[::-1]

    def winner(self, side: Side, seed: str) -> Winner:
        """Who wins when a reviewer says this."""
        left = self.left(seed)
        return {Side.LEFT: left, Side.RIGHT: left.mirrored}.get(side, Winner.TIE)

    def side(self, winner: Winner, seed: str) -> Side:
        """What a reviewer says when this one wins."""
        return Side.TIE if winner is Winner.TIE else Side.LEFT if winner is self.left(seed) else Side.RIGHT

    def verdict(self, winner: Winner, by: str, comment: str = "") -> Verdict:
        """A person's word on it, as the store keeps it."""
        return Verdict(
            case=self.case, baseline=self.baseline, challenger=self.challenger, winner=winner, comment=comment, by=by
        )

    def said(self, verdicts: Iterable[Verdict]) -> dict[str, Verdict]:
        """The verdicts on this pair, in either order, by who said them; of one person the last counts."""
        found: dict[str, Verdict] = {}
        for each in verdicts:
            if each.case != self.case or {each.baseline, each.challenger} != {self.baseline, self.challenger}:
                continue
            straight = each.baseline == self.baseline
            found[each.by] = each if straight else each.model_copy(update={"winner": each.winner.mirrored})
        return found


def digest(*words: str) -> str:
    """What tells these words apart from all others, in 16 letters and digits."""
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16]


def battles_of(
    case: CaseResult,
    suite: str,
) -> Iterable[Battle]:
    """The battles of a case that wait for people."""
    for name in case.pending:
        if (contest := case.contests.get(name)) is not None:
            yield Battle(
                evaluator=name,
                case=case.hash,
                baseline=contest.baseline,
                challenger=contest.challenger,
                suite=suite,
                name=case.name or case.hash,
                input=text_of(case.input),
                rubric=contest.rubric or "",
            )


def text_of(value: object) -> str:
    """A value of a record as people read it: text as it is, one field alone without its name, else JSON."""
    if isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, indent=2)
