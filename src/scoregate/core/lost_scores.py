"""Scores that the base has and the run lacks: how many, why, and whether more were lost than by chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from math import isfinite

from scoregate.core.cases import Columns
from scoregate.core.estimates import one_sided_p
from scoregate.core.pairing import Side, errored_rows, pair_sides


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


@dataclass(frozen=True, slots=True)
class CaseSets:
    """Which cases a suite has in the run and in the newest run of its base.

    Args:
        here: those of the run. there: those of the base.
        redefined: those of both that have another definition under the same hash.
        added: how many the run alone has. removed: the base alone.
    """

    here: frozenset[str]
    there: frozenset[str]
    redefined: frozenset[str]
    added: int
    removed: int

    @classmethod
    def of(cls, new: Columns, old: Columns) -> CaseSets:
        """From the columns of both."""
        here = dict(zip(new.hashes, new.digests, strict=True))
        there = dict(zip(old.hashes, old.digests, strict=True))
        shared = here.keys() & there.keys()
        changed = (case for case in shared if here[case] and there[case] and here[case] != there[case])
        added, removed = len(here) - len(shared), len(there) - len(shared)
        return cls(frozenset(here), frozenset(there), frozenset(changed), added, removed)


def find_lost_scores(
    new: Columns, olds: Sequence[Columns], evaluator: str, cases: CaseSets, *, here: Side, there: Side
) -> LostScores:
    """Compare which cases have a score.

    Args:
        new: the run's columns. olds: the base's, the newest first.
        cases: which cases both have. here: the run's scores. there: the base's.
    """
    lost = [case for case in there.means if case not in here.means]
    gained = sum(1 for case in here.means if case not in there.means and case in cases.there)
    if not lost:
        return LostScores(gained=gained)
    waiting = {new.hashes[row] for row in new.deferred.get(evaluator, ())}
    counts: dict[str, int] = {}
    for case in lost:
        if case not in cases.here:
            reason = Reason.REMOVED
        elif case in cases.redefined:
            reason = Reason.REDEFINED
        elif case in here.errored:
            reason = Reason.ERROR
        else:
            reason = Reason.WAITING if case in waiting else Reason.NONE
        counts[reason.value] = counts.get(reason.value, 0) + 1
    found = LostScores(counts, gained)
    return _test_losses(found, new, olds, evaluator, cases.here - cases.redefined) if Reason.NONE in counts else found


def _test_losses(
    found: LostScores, new: Columns, olds: Sequence[Columns], evaluator: str, same: frozenset[str]
) -> LostScores:
    """The same test as for scores, of the share of each case's trials that have one."""
    here, there = (Side.of(partial(_score_flags, runs, evaluator, same)) for runs in ([new], olds))
    pairs = pair_sides(here, there, new)
    p_lower, _ = one_sided_p(pairs)
    had = sum(there.means[case] for case in there.means if case in here.means)
    has = sum(here.means[case] for case in here.means if case in there.means)
    of = sum(1 for case, share in there.means.items() if share and case in here.means)
    return LostScores(found.reasons, found.gained, of, (had - has) / had if had else 0.0, p_lower)


def _score_flags(runs: Sequence[Columns], evaluator: str, same: frozenset[str]) -> Iterator[tuple[str, float]]:
    """1 for each trial with a score, 0 for each without; errors and what waits for people are neither."""
    for columns in runs:
        passed_over = errored_rows(columns, evaluator) | set(columns.deferred.get(evaluator, ()))
        for row, case in enumerate(columns.hashes):
            if case in same and row not in passed_over:
                yield case, float(isfinite(columns.score(evaluator, row)))
