"""One reviewer's session: the battles and scores of a run, with the reviews of all people in the store."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from pydantic_core import to_json

from scoregate.core.agreement import Agreement, measure_agreement
from scoregate.core.evaluation import EvaluationOverrideComment
from scoregate.errors import UsageError
from scoregate.store import OVERRIDES, VERDICTS, Override, Source, Store, Verdict
from scoregate.store.review_records import age_key, remove_items
from scoregate.web.review_items import (
    Battle,
    JudgedScore,
    Side,
    battle_key,
    digest,
    is_guessable,
    is_mirrored,
    judged_key,
    offered_choices,
    verdict_side,
)
from scoregate.web.review_queue import CachedReviews, Queue, QueueRow, Spool, save_reviews


class Vote(NamedTuple):
    """The parts of a verdict that stay in memory; `side` as in `verdict_side`."""

    id: str
    side: Side
    comment: str


Votes = Mapping[str, Sequence[Vote]]


class BattleReviews:
    """The battles of a run for one reviewer. The methods block and raise `StoreError` if the store fails."""

    def __init__(self, queue: Spool[Battle], store: Store, reviewer: str) -> None:
        self.queue, self.reviewer = queue, reviewer
        self._store = store
        self._reviews = CachedReviews(store, VERDICTS, key=battle_key, value=_to_vote)

    def marks(self) -> Hashable:
        """A value that changes when there are new reviews."""
        return self._reviews.marks(self.queue.evaluators)

    def rows(self) -> list[dict[str, Any]]:
        """A row for every battle. Verdicts of others are included only if the reviewer has judged the battle."""
        words = {name: self._reviews.of(name) for name in self.queue.evaluators}
        return [self._row(row, words[row.evaluator].get(row.key, {})) for row in self.queue.rows.values()]

    def waiting(self, keys: Iterable[str]) -> Collection[str]:
        """The battles among these that the reviewer has not judged."""
        return [
            key for key in keys if key in self.queue and self.reviewer not in self._reviews_of(self.queue.rows[key])
        ]

    def shown(self, key: str) -> dict[str, Any]:
        """A battle with its texts.

        Raises:
            KeyError: there is no such item.
        """
        battle, row = self.queue[key], self.queue.rows[key]
        said = self._reviews_of(row)
        left, right = battle.texts(self.reviewer)
        shown = {"input": battle.input, "left": left, "right": right, "rubric": battle.rubric}
        mine = said.get(self.reviewer)
        return {**self._row(row, said), **shown, "comment": mine[-1].comment if mine else ""}

    def judge(self, key: str, said: Side, comment: str) -> dict[str, Any]:
        """Save the reviewer's verdict on a battle; it replaces an earlier one.

        Raises:
            KeyError: there is no such item.
        """
        battle = self.queue[key]
        verdict = battle.verdict(said, self.reviewer, seed=self.reviewer, comment=comment)
        save_reviews(self._store, VERDICTS, battle.evaluator, reviews=[verdict], key=battle_key)
        return self.shown(key)

    def unjudge(self, key: str) -> dict[str, Any]:
        """Remove the reviewer's verdict on a battle.

        Raises:
            KeyError: there is no such item.
        """
        row = self.queue.rows[key]
        if gone := [vote.id for vote in self._reviews_of(row).get(self.reviewer, ())]:
            remove_items(self._store, VERDICTS, (row.evaluator,), gone)
        return self.shown(key)

    def _reviews_of(self, row: QueueRow) -> Votes:
        return self._reviews.of(row.evaluator).get(row.key, {})

    def _row(self, row: QueueRow, said: Votes) -> dict[str, Any]:
        side = _side_for(row.key, self.reviewer)
        mine = side(said[self.reviewer]) if self.reviewer in said else None
        others = [{"by": by, "said": side(votes)} for by, votes in sorted(said.items()) if by != self.reviewer]
        about = {"key": row.key, "suite": row.suite, "evaluator": row.evaluator, "name": row.name, "said": mine}
        return {**about, "others": others if mine else []}


def _to_vote(said: Verdict) -> Vote:
    return Vote(said.id, verdict_side(said), said.comment)


def _side_for(key: str, seed: str) -> Callable[[Sequence[Vote]], str]:
    """A function that returns the side of a person's last vote, as seen with this seed."""
    mirrored = is_mirrored(key, seed)

    def side(votes: Sequence[Vote]) -> str:
        return (votes[-1].side.mirrored if mirrored else votes[-1].side).value

    return side


class Correction(NamedTuple):
    """The parts of an override that stay in memory; `judge` is the fingerprint of the judge if it was sampled."""

    id: str
    original_score: float
    override_score: float
    comments: tuple[EvaluationOverrideComment, ...]
    judge: str | None
    age: tuple[float, str]


Corrections = Mapping[str, Sequence[Correction]]


class ScoreReviews:
    """The scores of judges for one reviewer. The methods block and raise `StoreError` if the store fails."""

    def __init__(self, queue: Spool[JudgedScore], store: Store, reviewer: str) -> None:
        self.queue, self.reviewer = queue, reviewer
        self._store = store
        self._reviews = CachedReviews(store, OVERRIDES, key=judged_key, value=_to_correction)

    def marks(self) -> Hashable:
        """A value that changes when there are new reviews."""
        return self._reviews.marks(self._corrected()), self._reviews.marks(self.queue.evaluators)

    def rows(self, waiting: Collection[str]) -> list[dict[str, Any]]:
        """A row for every score, except for outputs in the battles `waiting` for this reviewer: they would recognise
        the output in the battle.
        """
        words = {name: self._reviews.of(name) for name in self.queue.evaluators}
        shown = (row for row in self.queue.rows.values() if not any(battle in waiting for battle in row.battles))
        return [self._row(row, words[row.evaluator].get(row.key, {})) for row in shown]

    def shown(self, key: str) -> dict[str, Any]:
        """A score with its texts.

        Raises:
            KeyError: there is no such item.
        """
        judged, row = self.queue[key], self.queue.rows[key]
        said = self._reviews_of(row)
        mine = said.get(self.reviewer)
        comments = [asdict(each) for each in mine[-1].comments] if mine else []
        fields = {"inputs": [asdict(each) for each in judged.inputs], "outputs": [asdict(e) for e in judged.outputs]}
        choices = [asdict(each) for each in offered_choices(judged, self._scores[judged.evaluator])]
        reason = "" if self._is_hidden(row, said) else judged.reason
        details = {"reason": reason, "choices": choices, "only": bool(judged.choices), "comments": comments}
        return {**self._row(row, said), **fields, **details}

    def correct(self, key: str, score: float, comments: Iterable[EvaluationOverrideComment]) -> dict[str, Any]:
        """Save the reviewer's score; it replaces an earlier one.

        Raises:
            KeyError: there is no such item.
        """
        judged = self.queue[key]
        override = judged.override(score, self.reviewer, comments=comments)
        save_reviews(self._store, OVERRIDES, judged.evaluator, reviews=[override], key=judged_key)
        return self.shown(key)

    def uncorrect(self, key: str) -> dict[str, Any]:
        """Remove the reviewer's score.

        Raises:
            KeyError: there is no such item.
        """
        row = self.queue.rows[key]
        if gone := [mark.id for mark in self._reviews_of(row).get(self.reviewer, ())]:
            remove_items(self._store, OVERRIDES, (row.evaluator,), gone)
        return self.shown(key)

    def agreements(self) -> list[dict[str, Any]]:
        """The agreement of each judge with people, as in `scoregate agreement`."""
        return [
            _agreement_data(name, source, found)
            for name in self._corrected()
            for source, marks in _split_by_source(self._reviews.of(name).values())
            if (found := measure_agreement(marks)) is not None
        ]

    @cached_property
    def _scores(self) -> Mapping[str, set[float]]:
        found: defaultdict[str, set[float]] = defaultdict(set)
        for row in self.queue.rows.values():
            found[row.evaluator].add(row.score)
        return found

    def _corrected(self) -> list[str]:
        return [name for (name,) in self._store.list_keys(OVERRIDES)]

    def _reviews_of(self, row: QueueRow) -> Corrections:
        return self._reviews.of(row.evaluator).get(row.key, {})

    def _is_hidden(self, row: QueueRow, said: Corrections) -> bool:
        """Whether the judge's score is hidden until the reviewer gives theirs: in samples, for judges with choices.

        Without choices, a free number would hardly ever equal the judge's, so the reviewer sees it and confirms it.
        """
        chooses = row.chooses or is_guessable(self._scores[row.evaluator])
        return row.sampled and chooses and self.reviewer not in said

    def _row(self, row: QueueRow, said: Corrections) -> dict[str, Any]:
        mine = said[self.reviewer][-1].override_score if self.reviewer in said else None
        others = [(by, marks[-1].override_score) for by, marks in sorted(said.items()) if by != self.reviewer]
        score = None if self._is_hidden(row, said) else row.score
        about = {"key": row.key, "suite": row.suite, "evaluator": row.evaluator, "name": row.name, "score": score}
        shown = [{"by": by, "said": score} for by, score in others] if mine is not None else []
        return {**about, "sampled": row.sampled, "said": mine, "others": shown}


def _to_correction(said: Override) -> Correction:
    judge = said.fingerprint if said.sampled else None
    return Correction(said.id, said.original_score, said.override_score, said.comments, judge, age_key(said))


def _split_by_source(said: Iterable[Corrections]) -> Iterator[tuple[Source, list[Correction]]]:
    """Split corrections into those that people chose and, for each judge, those of a sample, as `split_by_source`."""
    chosen, samples = list[Correction](), defaultdict[str, list[Correction]](list)
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


def _agreement_data(name: str, source: Source, found: Agreement) -> dict[str, Any]:
    each = found.kappa
    kappa = None if each is None else {"value": each.value, "low": each.low, "high": each.high}
    details = {
        "n": found.n,
        "matching": found.matching,
        "accuracy": found.accuracy,
        "low": found.low,
        "high": found.high,
    }
    return {"evaluator": name, "source": str(source), **details, "kappa": kappa}


class ReviewSession:
    """The review of a run with this title and folder by one reviewer. Threads may share it."""

    def __init__(self, queue: Queue, store: Store, reviewer: str, *, title: str = "", folder: str = "") -> None:
        self.battles = BattleReviews(queue.battles, store, reviewer)
        self._judges = ScoreReviews(queue.judged, store, reviewer)
        self._title, self._folder = title, folder
        self._lock = threading.Lock()
        self._last: tuple[Hashable, str, bytes] = (None, "", b"")

    def state(self, mark: str = "") -> bytes | None:
        """Everything except texts, as JSON, built again only if there are new reviews.

        Args:
            mark: the mark of the known state; None is returned if it has not changed.

        Raises:
            StoreError: the store can't be read.
        """
        with self._lock:
            marks = self.battles.marks(), self._judges.marks()
            if marks != self._last[0]:
                name = digest(repr(marks))
                self._last = marks, name, to_json({"mark": name, **self._now()})
            return None if mark == self._last[1] else self._last[2]

    def judged(self, key: str) -> dict[str, Any]:
        """A score with its texts.

        Raises:
            KeyError: there is no such score.
            UsageError: a battle of this output must be judged first.
        """
        self._check(key)
        return self._judges.shown(key)

    def correct(self, key: str, score: float, comments: Iterable[EvaluationOverrideComment]) -> dict[str, Any]:
        """Save the reviewer's score.

        Raises:
            KeyError: there is no such score.
            UsageError: a battle of this output must be judged first.
        """
        self._check(key)
        return self._judges.correct(key, score, comments)

    def uncorrect(self, key: str) -> dict[str, Any]:
        """Remove the reviewer's score.

        Raises:
            KeyError: there is no such score.
            UsageError: a battle of this output must be judged first.
        """
        self._check(key)
        return self._judges.uncorrect(key)

    def _check(self, key: str) -> None:
        if self.battles.waiting(self._judges.queue.rows[key].battles):
            raise UsageError("Judge the battle of this output first. Then you can see this score.")

    def _now(self) -> dict[str, Any]:
        battles = self.battles.rows()
        judges = self._judges.rows({row["key"] for row in battles if row["said"] is None})
        about = {"reviewer": self.battles.reviewer, "run": self._title, "folder": self._folder}
        withheld = len(self._judges.queue) - len(judges)
        items = {"battles": battles, "judges": judges, "agreement": self._judges.agreements()}
        return {**about, "withheld": withheld, **items}
