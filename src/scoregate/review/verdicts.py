"""What waits for people and what they say: the battles of a run beside the verdicts in the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scoregate.review.battles import Battle, Side
from scoregate.review.queue import Spool
from scoregate.store import VERDICTS, Store, Verdict, add_verdict, verdicts
from scoregate.store.words import remove

Words = Mapping[tuple[str, str], list[Verdict]]


@dataclass(frozen=True, slots=True)
class Battles:
    """One reviewer's place at the battles of a run. Its methods block; `StoreError`: the store refuses."""

    queue: Spool[Battle]
    store: Store
    reviewer: str

    def rows(self) -> list[dict[str, Any]]:
        """A row for every battle. What others said is told of those alone that the reviewer has judged."""
        words = self._words()
        rows = ((key, self.queue[key]) for key in self.queue)
        return [self._row(key, battle, battle.said(_about(battle, words))) for key, battle in rows]

    def shown(self, key: str) -> dict[str, Any]:
        """A battle, to be judged.

        Raises:
            KeyError: there is none of this key.
        """
        battle = self.queue[key]
        said = battle.said(verdicts(self.store, battle.evaluator))
        left, right = battle.texts(self.reviewer)
        shown = {"input": battle.input, "left": left, "right": right, "rubric": battle.rubric}
        mine = said.get(self.reviewer)
        return {**self._row(key, battle, said), **shown, "comment": mine.comment if mine else ""}

    def judge(self, key: str, side: Side, comment: str) -> dict[str, Any]:
        """Keep what the reviewer says of a battle, in the place of what they said before.

        Raises:
            KeyError: there is none of this key.
        """
        battle = self.queue[key]
        verdict = battle.verdict(battle.winner(side, self.reviewer), self.reviewer, comment)
        add_verdict(self.store, battle.evaluator, verdict)
        self._unsay(battle, but=verdict.id)
        return self.shown(key)

    def unjudge(self, key: str) -> dict[str, Any]:
        """Take back what the reviewer said of a battle.

        Raises:
            KeyError: there is none of this key.
        """
        self._unsay(self.queue[key])
        return self.shown(key)

    def _unsay(self, battle: Battle, but: str = "") -> None:
        """Words on the same pair may have another id: those of files, and of the pair the other way round."""
        pair = {battle.baseline, battle.challenger}
        mine = (each for each in verdicts(self.store, battle.evaluator) if each.by == self.reviewer)
        same = [each.id for each in mine if each.case == battle.case and {each.baseline, each.challenger} == pair]
        if gone := [name for name in same if name != but]:
            remove(self.store, VERDICTS, (battle.evaluator,), gone)

    def _words(self) -> Words:
        evaluators = {shelf[0] for shelf in self.store.shelves(VERDICTS)}
        found: defaultdict[tuple[str, str], list[Verdict]] = defaultdict(list)
        for name in evaluators:
            for verdict in verdicts(self.store, name):
                found[name, verdict.case].append(verdict)
        return found

    def _row(self, key: str, battle: Battle, said: Mapping[str, Verdict]) -> dict[str, Any]:
        sides = {by: battle.side(each.winner, self.reviewer).value for by, each in said.items()}
        mine = sides.pop(self.reviewer, None)
        row = {"key": key, "suite": battle.suite, "evaluator": battle.evaluator, "name": battle.name, "said": mine}
        return {**row, "others": [{"by": by, "said": side} for by, side in sorted(sides.items())] if mine else []}


def _about(battle: Battle, words: Words) -> Iterable[Verdict]:
    return words.get((battle.evaluator, battle.case), ())
