"""Scores that the baseline has and the run lacks: how many, why, and whether more are lost than by chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from functools import partial
from math import isfinite

from scoregate.kernel.compare.estimates import one_sided_p
from scoregate.kernel.compare.pairing import Side, case_clusters, evaluator_error_rows, pair_sides
from scoregate.kernel.compare.statistics.significance import benjamini_hochberg
from scoregate.kernel.types.amounts import exceeds
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.case_means import TrialValue, number_slots


class Reason(StrEnum):
    """Why a case that has a score in the baseline has none in the run."""

    NONE = "none"
    ERROR = "error"
    REMOVED = "removed"
    REDEFINED = "redefined"
    WAITING = "waiting"


@record
class LostScores:
    """The cases that have a score on one side only.

    Attributes:
        reasons: the number of cases that lost their score, by reason; `none`: the evaluator returned None or nothing.
        gained: the number of cases with a score in the run only that the baseline has without a score.
        total: the number of cases that have a score in the baseline and could have one in the run.
        share: the share of these scores that is lost, in [0, 1]; trials count for repeated cases. Negative for a gain.
        p: the one-sided p of a loss as large or larger; None if no case lost its score to None.
        too_many: whether the row is unmeasurable because of them.
    """

    reasons: Mapping[str, int] = field(default_factory=dict)
    gained: int = 0
    total: int = 0
    share: float = 0.0
    p: float | None = None
    too_many: bool = False

    def is_too_many(self, limit: float, level: float) -> bool:
        """Whether significantly more scores were lost to None than gained, and more than a limit.

        Args:
            limit: the largest share of scores that may be lost, in [0, 1].
            level: the one-sided significance level, corrected for the number of rows, in (0, 1).
        """
        return self.p is not None and self.p <= level and exceeds(self.share, limit)


def correct_lost_scores(lost: Sequence[LostScores]) -> list[LostScores]:
    """The lost scores of all rows, with p-values corrected for the number of rows that lost any (Benjamini-Hochberg).

    An evaluator that returns None at random loses scores by chance, and more so one of twelve.

    Args:
        lost: the lost scores of each row of a comparison.
    """
    corrected = iter(benjamini_hochberg([each.p for each in lost if each.p is not None]))
    return [each if each.p is None else replace(each, p=next(corrected)) for each in lost]


@record
class CaseChanges:
    """The number of cases that are not the same on both sides.

    Attributes:
        added: the number of cases in the run only.
        removed: the number of cases in the baseline only.
        changed: the number of cases with a different definition under the same hash.
        kept: the number of trials that keep the base's results. They are in the means, and not compared.
    """

    added: int = 0
    removed: int = 0
    changed: int = 0
    kept: int = 0


@record
class CaseSets:
    """The cases of a suite in the run and in the newest run of its baseline, as hashes.

    Attributes:
        new: the cases of the run.
        baseline: the cases of the baseline.
        redefined: the cases of both with a different definition under the same hash.
        changes: how many cases are not the same.
    """

    new: frozenset[str]
    baseline: frozenset[str]
    redefined: frozenset[str]
    changes: CaseChanges

    @classmethod
    def from_columns(cls, new: Columns, baseline: Columns) -> CaseSets:
        """Compare the cases of the run's columns with those of the baseline's columns."""
        if new.hashes == baseline.hashes and new.digests == baseline.digests:
            cases = frozenset(new.hashes)
            return cls(cases, cases, frozenset(), CaseChanges())
        digests = dict(zip(new.hashes, new.digests, strict=True))
        base_digests = dict(zip(baseline.hashes, baseline.digests, strict=True))
        shared = digests.keys() & base_digests.keys()
        redefined = frozenset(
            case for case in shared if digests[case] and base_digests[case] and digests[case] != base_digests[case]
        )
        added, removed = len(digests) - len(shared), len(base_digests) - len(shared)
        changes = CaseChanges(added, removed, len(redefined))
        return cls(frozenset(digests), frozenset(base_digests), redefined, changes)


def find_lost_scores(
    columns: Columns, base_columns: Sequence[Columns], evaluator: str, cases: CaseSets, *, new: Side, baseline: Side
) -> LostScores:
    """Find the cases that have a score on one side only.

    The sign-flip test compares, for each case, the share of trials that have a score.

    Args:
        columns: the columns of the run.
        base_columns: the columns of the baseline's runs, the newest first.
        evaluator: the id of the evaluator.
        cases: the cases of both.
        new: the evaluator's scores in the run.
        baseline: the evaluator's scores in the baseline.
    """
    if new.means.keys() == baseline.means.keys():
        return LostScores()
    lost = [case for case in baseline.means if case not in new.means]
    gained = sum(1 for case in new.means if case not in baseline.means and case in cases.baseline)
    if not lost:
        return LostScores(gained=gained)
    waiting = {columns.hashes[row] for row in columns.deferred.get(evaluator, ())}
    counts: dict[str, int] = {}
    for case in lost:
        if case not in cases.new:
            reason = Reason.REMOVED
        elif case in cases.redefined:
            reason = Reason.REDEFINED
        elif case in new.errored:
            reason = Reason.ERROR
        else:
            reason = Reason.WAITING if case in waiting else Reason.NONE
        counts[reason.value] = counts.get(reason.value, 0) + 1
    if Reason.NONE not in counts:
        return LostScores(counts, gained)
    comparable = cases.new - cases.redefined
    flags = Side.from_reader(partial(_score_flags, [columns], evaluator, comparable))
    base_flags = Side.from_reader(partial(_score_flags, base_columns, evaluator, comparable))
    p_lower, _ = one_sided_p(pair_sides(flags, base_flags, case_clusters(columns)))
    base_scores = sum(base_flags.means[case] for case in base_flags.means if case in flags.means)
    scores = sum(flags.means[case] for case in flags.means if case in base_flags.means)
    total = sum(1 for case, share in base_flags.means.items() if share and case in flags.means)
    share = (base_scores - scores) / base_scores if base_scores else 0.0
    return LostScores(counts, gained, total, share, p_lower)


def _score_flags(runs: Sequence[Columns], evaluator: str, cases: frozenset[str]) -> Iterator[TrialValue]:
    """1 for each trial with a score, 0 for each without; trials with errors and pending reviews are left out."""
    for columns, slots in number_slots(runs):
        ignored = evaluator_error_rows(columns, evaluator) | set(columns.deferred.get(evaluator, ()))
        for row, case in enumerate(columns.hashes):
            if case in cases and row not in ignored:
                yield case, slots[row], float(isfinite(columns.score(evaluator, row)))
