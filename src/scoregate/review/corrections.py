"""What judges said and people correct: the scores of a run beside the overrides in the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from scoregate.core.agreement import Agreement, agreement
from scoregate.core.override import EvaluationOverrideComment
from scoregate.review.judged import Fields, Judged, choices_of
from scoregate.review.queue import Spool
from scoregate.store import OVERRIDES, Override, Store, add_override, overrides
from scoregate.store.words import remove


@dataclass(frozen=True)
class Corrections:
    """One reviewer's place at what judges said. Its methods block, and raise `StoreError` where the store refuses."""

    queue: Spool[Judged]
    store: Store
    reviewer: str

    def rows(self, waiting: Collection[str]) -> list[dict[str, Any]]:
        """A row for every score of a judge but those of outputs in battles that wait for this reviewer, whose keys
        are given: who has seen the output alone would know it again.
        """
        words = self._words()
        found = ((key, self.queue[key]) for key in self.queue)
        shown = ((key, each) for key, each in found if not any(battle in waiting for battle in each.battles))
        return [_row(key, each, each.said(words[each.evaluator, each.score]), self.reviewer) for key, each in shown]

    def shown(self, key: str) -> dict[str, Any]:
        """A score, to be corrected.

        Raises:
            KeyError: there is none of this key.
        """
        judged = self.queue[key]
        said = judged.said(overrides(self.store, judged.evaluator))
        mine = said.get(self.reviewer)
        comments = [asdict(each) for each in mine.comments] if mine else []
        texts = {"inputs": _fields(judged.inputs), "outputs": _fields(judged.outputs), "reason": judged.reason}
        choices = choices_of(self._scores.get(judged.evaluator, ()))
        return {**_row(key, judged, said, self.reviewer), **texts, "choices": choices, "comments": comments}

    def correct(self, key: str, score: float, comments: Iterable[EvaluationOverrideComment]) -> dict[str, Any]:
        """Keep what the reviewer says of a score, in the place of what they said before.

        Raises:
            KeyError: there is none of this key.
        """
        judged = self.queue[key]
        kept = add_override(self.store, judged.evaluator, judged.override(score, comments), by=self.reviewer)
        self._unsay(judged, but=kept.id)
        return self.shown(key)

    def uncorrect(self, key: str) -> dict[str, Any]:
        """Take back what the reviewer said of a score.

        Raises:
            KeyError: there is none of this key.
        """
        self._unsay(self.queue[key])
        return self.shown(key)

    def agreements(self) -> list[dict[str, Any]]:
        """How well each judge that people have corrected agrees with them, as `scoregate agreement` tells it."""
        found = ((shelf[0], agreement(overrides(self.store, shelf[0]))) for shelf in self.store.shelves(OVERRIDES))
        return [_figures(name, each) for name, each in found if each is not None]

    @cached_property
    def _scores(self) -> Mapping[str, set[float]]:
        found: defaultdict[str, set[float]] = defaultdict(set)
        for key in self.queue:
            judged = self.queue[key]
            found[judged.evaluator].add(judged.score)
        return found

    def _unsay(self, judged: Judged, but: str = "") -> None:
        """Words on the same score may have another id: those of files."""
        mine = [each for each in overrides(self.store, judged.evaluator) if each.by == self.reviewer]
        same = [each.id for each in mine if judged.said([each])]
        if gone := [name for name in same if name != but]:
            remove(self.store, OVERRIDES, (judged.evaluator,), gone)

    def _words(self) -> Mapping[tuple[str, float], list[Override]]:
        found: defaultdict[tuple[str, float], list[Override]] = defaultdict(list)
        for name in self._scores:
            for each in overrides(self.store, name):
                found[name, each.original_score].append(each)
        return found


def _row(key: str, judged: Judged, said: Mapping[str, Override], reviewer: str) -> dict[str, Any]:
    scores = {by: each.override_score for by, each in said.items()}
    mine = scores.pop(reviewer, None)
    row = {"key": key, "suite": judged.suite, "evaluator": judged.evaluator, "name": judged.name}
    others = [{"by": by, "said": score} for by, score in sorted(scores.items())]
    return {**row, "score": judged.score, "said": mine, "others": others if mine is not None else []}


def _fields(fields: Fields) -> list[dict[str, str]]:
    return [asdict(each) for each in fields]


def _figures(name: str, found: Agreement) -> dict[str, Any]:
    each = found.kappa
    kappa = None if each is None else {"value": each.value, "low": each.low, "high": each.high}
    told = {"n": found.n, "matching": found.matching, "accuracy": found.accuracy, "low": found.low, "high": found.high}
    return {"evaluator": name, **told, "kappa": kappa}
