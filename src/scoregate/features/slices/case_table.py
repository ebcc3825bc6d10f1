"""The scores of both sides by rows of the run, for the comparison of many slices of the same cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from math import isnan, nan
from statistics import fmean

from scoregate.kernel.compare.pairing import Pairs, Side, list_differences
from scoregate.kernel.types.records import record


@record
class CaseTable:
    """The mean scores of the cases of a run and its baseline, by row of the run's columns; NaN without a score.

    Attributes:
        cases: the cases, as hashes.
        means: the means of the run.
        base: the means of the baseline.
        differences: run − baseline.
        unpaired: the rows of cases that lack a score on one side.
        lost: those that lack it in the run only.
        errored: the rows of cases without a pair because of an error on one side.
    """

    cases: Sequence[str]
    means: Sequence[float]
    base: Sequence[float]
    differences: Sequence[float]
    unpaired: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    errored: frozenset[int] = frozenset()

    def pair(self, rows: Sequence[int]) -> Pairs | None:
        """The pairs of the cases in some rows, as `pair_sides` makes them.

        Returns:
            The pairs; None without any, or if the run lacks a score that the baseline has.
        """
        if not self.lost.isdisjoint(rows):
            return None
        paired = [row for row in rows if row not in self.unpaired] if self.unpaired else rows
        if not (n := len(paired)):
            return None
        means, base, differences = (
            [values[row] for row in paired] for values in (self.means, self.base, self.differences)
        )
        errored = self.errored.intersection(rows)
        return Pairs(
            n,
            tuple(zip(differences, repeat(1, n), strict=True)),
            rose=len([None for difference in differences if difference > 0]),
            fell=len([None for difference in differences if difference < 0]),
            errored=len(errored),
            errored_in_run=sum(isnan(self.means[row]) for row in errored),
            errored_in_base=len(errored),  # one in the run alone would be lost
            mean=fmean(means),
            base=fmean(base),
            names=[self.cases[row] for row in paired],
            lowerable=n - base.count(0.0),
            raisable=n - base.count(1.0),
        )


def make_case_table(cases: Sequence[str], new: Side, baseline: Side, clusters: Mapping[str, str]) -> CaseTable | None:
    """Make the table of some cases; None if they have clusters or several trials, which it has no place for.

    Args:
        cases: the cases by row, as hashes.
        new: the scores of the run.
        baseline: the scores of the baseline.
        clusters: the clusters of cases.
    """
    if clusters or new.counts or baseline.counts:
        return None
    means, base = (list(map(side.means.get, cases, repeat(nan))) for side in (new, baseline))
    missing, base_missing = ({row for row, mean in enumerate(values) if isnan(mean)} for values in (means, base))
    errors = new.errored | baseline.errored
    errored = (row for row, case in enumerate(cases) if case in errors and new.has_run(case) and baseline.has_run(case))
    return CaseTable(
        cases,
        means,
        base,
        list_differences(means, base),
        frozenset(missing | base_missing),
        frozenset(missing - base_missing),
        frozenset(errored if errors else ()),
    )
