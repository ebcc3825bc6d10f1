"""What waits for people and what they say: the battles of a run beside the verdicts in the store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scoregate.review.battles import Battle, Side, battle_key, side_of, turned
from scoregate.review.heard import Heard
from scoregate.review.keeping import keep_words
from scoregate.review.queue import Row, Spool
from scoregate.store import VERDICTS, Store, Verdict
from scoregate.store.words import remove


class Vote(NamedTuple):
    """What is kept in memory of a verdict; `side` is as `side_of` tells it."""

    id: str
    side: Side
    comment: str


Votes = Mapping[str, Sequence[Vote]]


class Battles:
    """One reviewer's place at the battles of a run. Its methods block; `StoreError`: the store refuses."""

    def __init__(self, queue: Spool[Battle], store: Store, reviewer: str) -> None:
        self.queue, self.reviewer = queue, reviewer
        self._store = store
        self._heard = Heard(store, VERDICTS, key=battle_key, word=_vote)

    def marks(self) -> Hashable:
        """What differs once anything was said."""
        return self._heard.marks(self.queue.evaluators)

    def rows(self) -> list[dict[str, Any]]:
        """A row for every battle. What others said is told of those alone that the reviewer has judged."""
        words = {name: self._heard.of(name) for name in self.queue.evaluators}
        return [self._row(row, words[row.evaluator].get(row.key, {})) for row in self.queue.rows.values()]

    def waiting(self, keys: Iterable[str]) -> Collection[str]:
        """Of these battles, those that the reviewer has not judged."""
        return [key for key in keys if key in self.queue and self.reviewer not in self._said(self.queue.rows[key])]

    def shown(self, key: str) -> dict[str, Any]:
        """A battle, to be judged.

        Raises:
            KeyError: there is none of this key.
        """
        battle, row = self.queue[key], self.queue.rows[key]
        said = self._said(row)
        left, right = battle.texts(self.reviewer)
        shown = {"input": battle.input, "left": left, "right": right, "rubric": battle.rubric}
        mine = said.get(self.reviewer)
        return {**self._row(row, said), **shown, "comment": mine[-1].comment if mine else ""}

    def judge(self, key: str, said: Side, comment: str) -> dict[str, Any]:
        """Keep what the reviewer says of a battle, in the place of what they said before.

        Raises:
            KeyError: there is none of this key.
        """
        battle = self.queue[key]
        verdict = battle.verdict(said, self.reviewer, seed=self.reviewer, comment=comment)
        keep_words(self._store, VERDICTS, battle.evaluator, said=[verdict], key=battle_key)
        return self.shown(key)

    def unjudge(self, key: str) -> dict[str, Any]:
        """Take back what the reviewer said of a battle.

        Raises:
            KeyError: there is none of this key.
        """
        row = self.queue.rows[key]
        if gone := [vote.id for vote in self._said(row).get(self.reviewer, ())]:
            remove(self._store, VERDICTS, (row.evaluator,), gone)
        return self.shown(key)

    def _said(self, row: Row) -> Votes:
        return self._heard.of(row.evaluator).get(row.key, {})

    def _row(self, row: Row, said: Votes) -> dict[str, Any]:
        side = _seen(row.key, self.reviewer)
        mine = side(said[self.reviewer]) if self.reviewer in said else None
        others = [{"by": by, "said": side(votes)} for by, votes in sorted(said.items()) if by != self.reviewer]
        about = {"key": row.key, "suite": row.suite, "evaluator": row.evaluator, "name": row.name, "said": mine}
        return {**about, "others": others if mine else []}


def _vote(said: Verdict) -> Vote:
    return Vote(said.id, side_of(said), said.comment)


def _seen(key: str, seed: str) -> Callable[[Sequence[Vote]], str]:
    """What a person's votes come to, to who sees the battle under this seed."""
    mirrored = turned(key, seed)

    def side(votes: Sequence[Vote]) -> str:
        return (votes[-1].side.mirrored if mirrored else votes[-1].side).value

    return side
