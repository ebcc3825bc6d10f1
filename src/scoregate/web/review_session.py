"""One reviewer's session: the battles and scores of a run, with the reviews of all people in the store."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from pydantic_core import to_json

from scoregate.errors import UsageError
from scoregate.kernel.compare.agreement import Agreement, measure_agreement
from scoregate.kernel.compare.judge_checks import Review
from scoregate.kernel.types.evaluation import EvaluationOverrideComment
from scoregate.store import OVERRIDES, VERDICTS, Override, Source, Store
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
        self._reviews = CachedReviews(
            store,
            VERDICTS,
            key=battle_key,
            value=lambda verdict: Vote(verdict.id, verdict_side(verdict), verdict.comment),
        )

    def marks(self) -> Hashable:
        """A value that changes when there are new reviews."""
        return self._reviews.marks(self.queue.evaluators)

    def rows(self) -> list[dict[str, Any]]:
        """A row for every battle. Verdicts of others are included only if the reviewer has judged the battle."""
        reviews = {name: self._reviews.read_evaluator_reviews(name) for name in self.queue.evaluators}
        return [self._row(row, reviews[row.evaluator].get(row.key, {})) for row in self.queue.rows.values()]

    def open_battles(self, keys: Iterable[str]) -> Collection[str]:
        """The battles among these that the reviewer has not judged."""
        return [
            key
            for key in keys
            if key in self.queue and self.reviewer not in self._reviews.read_item_reviews(self.queue.rows[key])
        ]

    def details(self, key: str) -> dict[str, Any]:
        """A battle with its texts.

        Raises:
            KeyError: there is no such item.
        """
        battle, row = self.queue[key], self.queue.rows[key]
        votes = self._reviews.read_item_reviews(row)
        left, right = battle.texts(self.reviewer)
        texts = {"input": battle.input, "left": left, "right": right, "rubric": battle.rubric}
        own = votes.get(self.reviewer)
        return {**self._row(row, votes), **texts, "comment": own[-1].comment if own else ""}

    def judge(self, key: str, decision: Side, comment: str) -> dict[str, Any]:
        """Save the reviewer's verdict on a battle; it replaces an earlier one.

        Raises:
            KeyError: there is no such item.
        """
        battle = self.queue[key]
        verdict = battle.verdict(decision, self.reviewer, seed=self.reviewer, comment=comment)
        save_reviews(self._store, VERDICTS, battle.evaluator, reviews=[verdict], key=battle_key)
        return self.details(key)

    def remove_verdict(self, key: str) -> dict[str, Any]:
        """Remove the reviewer's verdict on a battle.

        Raises:
            KeyError: there is no such item.
        """
        row = self.queue.rows[key]
        if ids := [vote.id for vote in self._reviews.read_item_reviews(row).get(self.reviewer, ())]:
            remove_items(self._store, VERDICTS, (row.evaluator,), ids)
        return self.details(key)

    def _row(self, row: QueueRow, votes: Votes) -> dict[str, Any]:
        mirrored = is_mirrored(row.key, self.reviewer)
        # The side of each person's last vote, as the reviewer sees the outputs.
        sides = {by: last.side.mirrored if mirrored else last.side for by, (*_, last) in sorted(votes.items())}
        own = sides.pop(self.reviewer, None)
        others = [{"by": by, "decision": side.value} for by, side in sides.items()]
        item = {"key": row.key, "suite": row.suite, "evaluator": row.evaluator, "name": row.name}
        return {**item, "decision": own.value if own else None, "others": others if own else []}


class Correction(NamedTuple):
    """The parts of an override that stay in memory; `judge` is the fingerprint of the judge if it was sampled."""

    id: str
    review: Review
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
        # Agreement is shown for all corrected judges, also for those that are not in this run.
        return self._reviews.marks(self._corrected()), self._reviews.marks(self.queue.evaluators)

    def rows(self, waiting: Collection[str]) -> list[dict[str, Any]]:
        """A row for every score, except for outputs in the battles `waiting`: the reviewer must not recognise them."""
        reviews = {name: self._reviews.read_evaluator_reviews(name) for name in self.queue.evaluators}
        rows = (row for row in self.queue.rows.values() if not any(battle in waiting for battle in row.battles))
        return [self._row(row, reviews[row.evaluator].get(row.key, {})) for row in rows]

    def details(self, key: str) -> dict[str, Any]:
        """A score with its texts.

        Raises:
            KeyError: there is no such item.
        """
        judged, row = self.queue[key], self.queue.rows[key]
        corrections = self._reviews.read_item_reviews(row)
        own = corrections.get(self.reviewer)
        comments = [asdict(each) for each in own[-1].comments] if own else []
        fields = {"inputs": [asdict(each) for each in judged.inputs], "outputs": [asdict(e) for e in judged.outputs]}
        choices = [asdict(each) for each in offered_choices(judged, self._scores[judged.evaluator])]
        reason = "" if self._is_hidden(row, corrections) else judged.reason
        details = {"reason": reason, "choices": choices, "only": bool(judged.choices), "comments": comments}
        return {**self._row(row, corrections), **fields, **details}

    def correct(self, key: str, score: float, comments: Iterable[EvaluationOverrideComment]) -> dict[str, Any]:
        """Save the reviewer's score; it replaces an earlier one.

        Raises:
            KeyError: there is no such item.
        """
        judged = self.queue[key]
        override = judged.override(score, self.reviewer, comments=comments)
        save_reviews(self._store, OVERRIDES, judged.evaluator, reviews=[override], key=judged_key)
        return self.details(key)

    def remove_correction(self, key: str) -> dict[str, Any]:
        """Remove the reviewer's score.

        Raises:
            KeyError: there is no such item.
        """
        row = self.queue.rows[key]
        if ids := [each.id for each in self._reviews.read_item_reviews(row).get(self.reviewer, ())]:
            remove_items(self._store, OVERRIDES, (row.evaluator,), ids)
        return self.details(key)

    def agreements(self) -> list[dict[str, Any]]:
        """The agreement of each judge with people, as in `scoregate agreement`."""
        return [
            _agreement_data(name, source, agreement)
            for name in self._corrected()
            for source, corrections in _split_by_source(self._reviews.read_evaluator_reviews(name).values())
            if (agreement := measure_agreement([each.review for each in corrections])) is not None
        ]

    @cached_property
    def _scores(self) -> Mapping[str, set[float]]:
        scores: defaultdict[str, set[float]] = defaultdict(set)
        for row in self.queue.rows.values():
            scores[row.evaluator].add(row.score)
        return scores

    def _corrected(self) -> list[str]:
        return [name for (name,) in self._store.list_keys(OVERRIDES)]

    def _is_hidden(self, row: QueueRow, corrections: Corrections) -> bool:
        """Whether the judge's score is hidden until the reviewer gives theirs: in samples, for judges with choices.

        Without choices, a free number would hardly ever equal the judge's, so the reviewer sees it and confirms it.
        """
        chooses = row.chooses or is_guessable(self._scores[row.evaluator])
        return row.sampled and chooses and self.reviewer not in corrections

    def _row(self, row: QueueRow, corrections: Corrections) -> dict[str, Any]:
        scores = {by: last.review.override_score for by, (*_, last) in sorted(corrections.items())}
        own = scores.pop(self.reviewer, None)
        others = [{"by": by, "decision": score} for by, score in scores.items()] if own is not None else []
        item = {"key": row.key, "suite": row.suite, "evaluator": row.evaluator, "name": row.name}
        judged = {"score": None if self._is_hidden(row, corrections) else row.score, "sampled": row.sampled}
        return {**item, **judged, "decision": own, "others": others}


def _to_correction(override: Override) -> Correction:
    judge = override.fingerprint if override.sampled else None
    return Correction(override.id, override.to_review(), override.comments, judge, age_key(override))


def _split_by_source(items: Iterable[Corrections]) -> Iterator[tuple[Source, list[Correction]]]:
    """Split corrections into those that people chose and, for each judge, those of a sample, as `split_by_source`."""
    chosen, samples = list[Correction](), defaultdict[str, list[Correction]](list)
    for by_reviewer in items:
        corrections = sorted(chain.from_iterable(by_reviewer.values()), key=lambda each: each.age)
        judge = corrections[-1].judge
        if judge is None:
            chosen += corrections
        else:
            samples[judge].append(corrections[-1])
    if chosen:
        yield Source.CHOSEN, chosen
    for sample in sorted(samples.values(), key=lambda each: max(correction.age for correction in each)):
        yield Source.SAMPLE, sample


def _agreement_data(name: str, source: Source, agreement: Agreement) -> dict[str, Any]:
    estimate = agreement.kappa
    kappa = None if estimate is None else {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    details = {
        "n": agreement.n,
        "matching": agreement.matching,
        "accuracy": agreement.accuracy,
        "low": agreement.low,
        "high": agreement.high,
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
            # Before the state: a review that comes in between changes it the next time.
            marks = self.battles.marks(), self._judges.marks()
            if marks != self._last[0]:
                name = digest(repr(marks))
                self._last = marks, name, to_json({"mark": name, **self._build_state()})
            return None if mark == self._last[1] else self._last[2]

    def score_details(self, key: str) -> dict[str, Any]:
        """A score with its texts.

        Raises:
            KeyError: there is no such score.
            UsageError: a battle of this output must be judged first.
        """
        self._check(key)
        return self._judges.details(key)

    def correct(self, key: str, score: float, comments: Iterable[EvaluationOverrideComment]) -> dict[str, Any]:
        """Save the reviewer's score.

        Raises:
            KeyError: there is no such score.
            UsageError: a battle of this output must be judged first.
        """
        self._check(key)
        return self._judges.correct(key, score, comments)

    def remove_correction(self, key: str) -> dict[str, Any]:
        """Remove the reviewer's score.

        Raises:
            KeyError: there is no such score.
            UsageError: a battle of this output must be judged first.
        """
        self._check(key)
        return self._judges.remove_correction(key)

    def _check(self, key: str) -> None:
        if self.battles.open_battles(self._judges.queue.rows[key].battles):
            raise UsageError("Judge the battle of this output first. Then you can see this score.")

    def _build_state(self) -> dict[str, Any]:
        battles = self.battles.rows()
        judges = self._judges.rows({row["key"] for row in battles if row["decision"] is None})
        session = {"reviewer": self.battles.reviewer, "run": self._title, "folder": self._folder}
        withheld = len(self._judges.queue) - len(judges)
        items = {"battles": battles, "judges": judges, "agreement": self._judges.agreements()}
        return {**session, "withheld": withheld, **items}
