"""Scores that the base has and the run lacks: how many, why, and whether more were lost than by chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from math import isfinite

from scoregate.core.columns import Columns
from scoregate.core.pairs import Side, errored_rows, pair
from scoregate.core.stats import one_sided


class Reason(StrEnum):
    """Why a case that has a score in the base has none in the run."""

    NONE = "none"
    ERROR = "error"
    REMOVED = "removed"
    REDEFINED = "redefined"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class LostScores:
    """The cases that have a score on one side only.

    Args:
        reasons: how many cases lost theirs, by reason; `none` is the evaluator's own None (or nothing at all).
        gained: cases with a score now whose base has none, though it has the case.
        of: cases that have a score in the base and could have one now.
        share: of those, how many fewer have a score than in the base; trials count where cases are repeated.
        p: one-sided, of as large a loss by chance; None where no case lost its score to None.
    """

    reasons: Mapping[str, int] = field(default_factory=dict)
    gained: int = 0
    of: int = 0
    share: float = 0.0
    p: float | None = None

    def too_many(self, limit: float, alpha: float) -> bool:
        """Whether significantly more scores were lost to None than gained, and more than the limit allows."""
        return self.p is not None and self.p <= alpha / 2 and self.share > limit


def lost_scores(new: Sequence[Columns], olds: Sequence[Columns], evaluator: str, here: Side, there: Side) -> LostScores:
    """Compare which cases have a score.

    Args:
        new: the run's columns. olds: the base's, the newest first. here: the run's scores. there: the base's.
    """
    lost = [case for case in there.means if case not in here.means]
    gained = [case for case in here.means if case not in there.means]
    if not lost:
        return LostScores(gained=len(set(gained) & set(olds[0].hashes)) if gained else 0)
    known, before = _digests(new[0]), _digests(olds[0])
    waiting = {columns.hashes[row] for columns in new for row in columns.deferred.get(evaluator, ())}
    counts: dict[str, int] = {}
    for case in lost:
        if case not in known:
            reason = Reason.REMOVED
        elif _is_redefined(known[case], before.get(case, "")):
            reason = Reason.REDEFINED
        elif case in here.errored:
            reason = Reason.ERROR
        else:
            reason = Reason.WAITING if case in waiting else Reason.NONE
        counts[reason.value] = counts.get(reason.value, 0) + 1
    gained = [case for case in gained if case in before]
    if Reason.NONE not in counts:
        return LostScores(counts, len(gained))
    same = {case for case, digest in known.items() if not _is_redefined(digest, before.get(case, ""))}
    return _tested(LostScores(counts, len(gained)), new, olds, evaluator, same)


def _tested(
    found: LostScores, new: Sequence[Columns], olds: Sequence[Columns], evaluator: str, same: set[str]
) -> LostScores:
    """The same test as for scores, of the share of each case's trials that have one."""
    here, there = (Side.of(partial(_scored, runs, evaluator, same)) for runs in (new, olds))
    pairs = pair(here, there, new[0])
    p_lower, _ = one_sided(pairs)
    had = sum(there.means[case] for case in there.means if case in here.means)
    has = sum(here.means[case] for case in here.means if case in there.means)
    of = sum(1 for case, share in there.means.items() if share and case in here.means)
    return LostScores(found.reasons, found.gained, of, (had - has) / had if had else 0.0, p_lower)


def _scored(runs: Sequence[Columns], evaluator: str, same: set[str]) -> Iterator[tuple[str, float]]:
    """1 for each trial with a score, 0 for each without; errors and what waits for people are neither."""
    for columns in runs:
        passed_over = errored_rows(columns, evaluator) | set(columns.deferred.get(evaluator, ()))
        for row, case in enumerate(columns.hashes):
            if case in same and row not in passed_over:
                yield case, float(isfinite(columns.score(evaluator, row)))


def _digests(columns: Columns) -> dict[str, str]:
    return dict(zip(columns.hashes, columns.digests, strict=True))


def _is_redefined(new: str, old: str) -> bool:
    return bool(new and old and new != old)
