"""What judges said and people correct: the scores of a run beside the overrides in the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from scoregate.core.agreement import Agreement, agreement
from scoregate.core.override import EvaluationOverrideComment
from scoregate.review.heard import Heard
from scoregate.review.judged import Judged, choices_of, is_guessable, judged_key
from scoregate.review.keeping import keep_words
from scoregate.review.queue import Row, Spool
from scoregate.store import OVERRIDES, Override, Source, Store
from scoregate.store.words import age, remove


class Mark(NamedTuple):
    """What is kept in memory of an override; `judge` is the fingerprint of a sampled one's judge, else None."""

    id: str
    original_score: float
    override_score: float
    comments: tuple[EvaluationOverrideComment, ...]
    judge: str | None
    age: tuple[float, str]


Marks = Mapping[str, Sequence[Mark]]


class Corrections:
    """One reviewer's place at what judges said. Its methods block, and raise `StoreError` where the store refuses."""

    def __init__(self, queue: Spool[Judged], store: Store, reviewer: str) -> None:
        self.queue, self.reviewer = queue, reviewer
        self._store = store
        self._heard = Heard(store, OVERRIDES, key=judged_key, word=_mark)

    def marks(self) -> Hashable:
        """What differs once anything was said."""
        return self._heard.marks(self._corrected()), self._heard.marks(self.queue.evaluators)

    def rows(self, waiting: Collection[str]) -> list[dict[str, Any]]:
        """A row for every score of a judge but those of outputs in battles that wait for this reviewer, whose keys
        are given: who has seen the output alone would know it again.
        """
        words = {name: self._heard.of(name) for name in self.queue.evaluators}
        shown = (row for row in self.queue.rows.values() if not any(battle in waiting for battle in row.battles))
        return [self._row(row, words[row.evaluator].get(row.key, {})) for row in shown]

    def shown(self, key: str) -> dict[str, Any]:
        """A score, to be corrected.

        Raises:
            KeyError: there is none of this key.
        """
        judged, row = self.queue[key], self.queue.rows[key]
        said = self._said(row)
        mine = said.get(self.reviewer)
        comments = [asdict(each) for each in mine[-1].comments] if mine else []
        fields = {"inputs": [asdict(each) for each in judged.inputs], "outputs": [asdict(e) for e in judged.outputs]}
        choices = [asdict(each) for each in choices_of(judged, self._scores[judged.evaluator])]
        reason = "" if self._is_hidden(row, said) else judged.reason
        told = {"reason": reason, "choices": choices, "only": bool(judged.choices), "comments": comments}
        return {**self._row(row, said), **fields, **told}

    def correct(self, key: str, score: float, comments: Iterable[EvaluationOverrideComment]) -> dict[str, Any]:
        """Keep what the reviewer says of a score, in the place of what they said before.

        Raises:
            KeyError: there is none of this key. UsageError: the judge has choices, and this is none of them.
        """
        judged = self.queue[key]
        said = judged.override(score, self.reviewer, comments=comments)
        keep_words(self._store, OVERRIDES, judged.evaluator, said=[said], key=judged_key)
        return self.shown(key)

    def uncorrect(self, key: str) -> dict[str, Any]:
        """Take back what the reviewer said of a score.

        Raises:
            KeyError: there is none of this key.
        """
        row = self.queue.rows[key]
        if gone := [mark.id for mark in self._said(row).get(self.reviewer, ())]:
            remove(self._store, OVERRIDES, (row.evaluator,), gone)
        return self.shown(key)

    def agreements(self) -> list[dict[str, Any]]:
        """How well each judge that people have corrected agrees with them, as `scoregate agreement` tells it."""
        return [
            _figures(name, source, found)
            for name in self._corrected()
            for source, marks in _sources(self._heard.of(name).values())
            if (found := agreement(marks)) is not None
        ]

    @cached_property
    def _scores(self) -> Mapping[str, set[float]]:
        found: defaultdict[str, set[float]] = defaultdict(set)
        for row in self.queue.rows.values():
            found[row.evaluator].add(row.score)
        return found

    def _corrected(self) -> list[str]:
        return [shelf[0] for shelf in self._store.shelves(OVERRIDES)]

    def _said(self, row: Row) -> Marks:
        return self._heard.of(row.evaluator).get(row.key, {})

    def _is_hidden(self, row: Row, said: Marks) -> bool:
        """Whether the reviewer is to judge before they know what the judge said: in a sample, and among choices.

        Who types any number would hardly ever hit upon the judge's, so that they are asked whether it is right.
        """
        chooses = row.chooses or is_guessable(self._scores[row.evaluator])
        return row.sampled and chooses and self.reviewer not in said

    def _row(self, row: Row, said: Marks) -> dict[str, Any]:
        mine = said[self.reviewer][-1].override_score if self.reviewer in said else None
        others = [(by, marks[-1].override_score) for by, marks in sorted(said.items()) if by != self.reviewer]
        score = None if self._is_hidden(row, said) else row.score
        about = {"key": row.key, "suite": row.suite, "evaluator": row.evaluator, "name": row.name, "score": score}
        shown = [{"by": by, "said": score} for by, score in others] if mine is not None else []
        return {**about, "sampled": row.sampled, "said": mine, "others": shown}


def _mark(said: Override) -> Mark:
    judge = said.fingerprint if said.sampled else None
    return Mark(said.id, said.original_score, said.override_score, said.comments, judge, age(said))


def _sources(said: Iterable[Marks]) -> Iterator[tuple[Source, list[Mark]]]:
    """What people chose to correct, and of each judge what they said of a sample, as `split_by_source` has it."""
    chosen, samples = list[Mark](), defaultdict[str, list[Mark]](list)
    for words in said:
        marks = sorted(chain.from_iterable(words.values()), key=lambda mark: mark.age)
        judge = marks[-1].judge
        if judge is None:
            chosen += marks
        else:
            samples[judge].append(marks[-1])
    if chosen:
        yield Source.CHOSEN, chosen
    for marks in sorted(samples.values(), key=lambda each: max(mark.age for mark in each)):
        yield Source.SAMPLE, marks


def _figures(name: str, source: Source, found: Agreement) -> dict[str, Any]:
    each = found.kappa
    kappa = None if each is None else {"value": each.value, "low": each.low, "high": each.high}
    told = {"n": found.n, "matching": found.matching, "accuracy": found.accuracy, "low": found.low, "high": found.high}
    return {"evaluator": name, "source": str(source), **told, "kappa": kappa}
