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

    @property
    def mirrored(self) -> Side:
        """The same with the outputs exchanged."""
        return {Side.LEFT: Side.RIGHT, Side.RIGHT: Side.LEFT}.get(self, self)


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
        return battle_key(self.evaluator, self)

    def texts(self, seed: str) -> tuple[str, str]:
        """The outputs, the left one first; always the same for one seed, such as a reviewer's name."""
        pair = sorted((self.baseline, self.challenger))
        return (pair[1], pair[0]) if turned(self.key, seed) else (pair[0], pair[1])

    def verdict(self, side: Side, by: str, *, seed: str, comment: str = "") -> Verdict:
        """What a person says who saw it under this seed, as the store keeps it."""
        wins = {Side.TIE: Winner.TIE}.get(side) or (
            Winner.BASELINE if (side is Side.LEFT) == (self.texts(seed)[0] == self.baseline) else Winner.CHALLENGER
        )
        return Verdict(
            case=self.case, baseline=self.baseline, challenger=self.challenger, winner=wins, comment=comment, by=by
        )


def battle_key(evaluator: str, pair: Battle | Verdict) -> str:
    """Of a battle, or of the one that a verdict is on, whichever of its outputs that calls the baseline."""
    return digest(evaluator, pair.case, *sorted((pair.baseline, pair.challenger)))


def turned(key: str, seed: str) -> bool:
    """Whether who sees a battle under this seed has on the left the output that comes second by the alphabet."""
    return bool(int(digest("side", seed, key), 16) % 2)


def side_of(verdict: Verdict) -> Side:
    """What a verdict says to who has on the left the output that comes first by the alphabet."""
    if verdict.winner is Winner.TIE:
        return Side.TIE
    first = min(verdict.baseline, verdict.challenger)
    wins = verdict.baseline if verdict.winner is Winner.BASELINE else verdict.challenger
    return Side.LEFT if wins == first else Side.RIGHT


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
