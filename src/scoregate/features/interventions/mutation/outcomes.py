"""What was measured of each unit, and what it shows: all units together are the family of tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import comb

from scoregate.kernel.compare.statistics.intervals import wilson_interval
from scoregate.kernel.compare.statistics.significance import benjamini_hochberg
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.confirmations import fisher_p

LEVEL = 0.05
"""The false discovery rate among the units of a run that are called seen."""


class UnitOutcome(StrEnum):
    """Whether the evals notice that a unit is edited."""

    GATED = "gated"
    SEEN = "seen"
    NOT_NOTICED = "not_noticed"
    NOT_EXERCISED = "not_exercised"
    BETTER_WITHOUT = "better_without"
    BROKEN = "broken"


@record
class TriedCase:
    """A case whose outcome differed once, and its fresh trials in both trees.

    Attributes:
        suite: the label of its suite.
        case: its hash.
        name: its name.
        tries: whether each trial in the edited tree passed.
        base_tries: the same in the unedited tree.
    """

    suite: str
    case: str
    name: str
    tries: tuple[bool, ...] = ()
    base_tries: tuple[bool, ...] = ()


@record
class Measured:
    """What was measured of a unit.

    Attributes:
        gap: why nothing was measured, such as a provider that did not answer; empty if something was.
        broken: why the edited tree doesn't run; empty if it does.
        is_exercised: whether any request or output differs from that of the unedited tree, or may do so.
        fell: the cases that failed newly.
        rose: the cases that passed newly.
        p_worse: the smallest one-sided p of a row that it got worse, corrected for the number of rows.
        p_better: the same for getting better.
        gates: the gates that fail in the edited tree and not in the unedited one.
        tried_gates: these gates in fresh runs of whole suites in both trees, if no single case fell.
        detectable: the smallest drop of a mean score that would be noticed, in (0, 1]; None if no drop of a mean would.
    """

    gap: str = ""
    broken: str = ""
    is_exercised: bool = True
    fell: tuple[TriedCase, ...] = ()
    rose: tuple[TriedCase, ...] = ()
    p_worse: float = 1.0
    p_better: float = 1.0
    gates: tuple[str, ...] = ()
    tried_gates: tuple[TriedCase, ...] = ()
    detectable: float | None = None


@record
class Judgement:
    """The outcome of a unit, and the cases that show it."""

    outcome: UnitOutcome
    cases: tuple[TriedCase, ...] = ()


def judge_units(measured: Sequence[Measured]) -> list[Judgement]:
    """The outcome of each unit, in the order of the units.

    At most 5 % of the units that are called seen, or better without, are expected to be neither.
    """
    tested = [each for each in measured if each.is_exercised and not each.broken]
    worse = benjamini_hochberg([_combine(each.p_worse, (*each.fell, *each.tried_gates)) for each in tested])
    better = benjamini_hochberg([_combine(each.p_better, each.rose, is_rise=True) for each in tested])
    corrected = iter(zip(worse, better, strict=True))
    return [
        _judge(each, *(next(corrected) if each.is_exercised and not each.broken else (1.0, 1.0))) for each in measured
    ]


def _judge(measured: Measured, worse: float, better: float) -> Judgement:
    if measured.broken:
        return Judgement(UnitOutcome.BROKEN)
    if not measured.is_exercised:
        return Judgement(UnitOutcome.NOT_EXERCISED)
    if worse <= LEVEL:
        return Judgement(UnitOutcome.GATED if measured.gates else UnitOutcome.SEEN, _find_certain(measured.fell))
    if better <= LEVEL:
        return Judgement(UnitOutcome.BETTER_WITHOUT, _find_certain(measured.rose, is_rise=True))
    return Judgement(UnitOutcome.NOT_NOTICED)


def _combine(p_row: float, cases: Sequence[TriedCase], *, is_rise: bool = False) -> float:
    """One p of a unit, of three tests that share its level: all its cases together get half of it, the clearest case
    and its rows a quarter each.

    The cases were chosen because they differed once, so only their fresh trials count.
    """
    ps = [_test(each, is_rise=is_rise) for each in cases]
    clearest = min(ps, default=1.0) * max(1, len(ps))
    return min(1.0, 2 * _test_together(cases, is_rise=is_rise), 4 * clearest, 4 * p_row)


def _test(case: TriedCase, *, is_rise: bool = False) -> float:
    sides = (case.base_tries, case.tries) if is_rise else (case.tries, case.base_tries)
    return fisher_p(*sides) if all(sides) else 1.0


def _test_together(cases: Sequence[TriedCase], *, is_rise: bool) -> float:
    """The p of the number of failures in the edited tree, given those of each case in both: an exact test of strata.

    Source: Cochran (1954), Biometrics 10:417; Mantel and Haenszel (1959), J. Natl. Cancer Inst. 22:719; here with the
    exact distribution.
    """
    distribution, observed = {0: 1.0}, 0
    for case in cases:
        tries, base_tries = (case.base_tries, case.tries) if is_rise else (case.tries, case.base_tries)
        if not tries or not base_tries:
            continue
        observed += tries.count(False)
        distribution = _add_stratum(distribution, tries, base_tries)
    total = sum(distribution.values())
    return min(1.0, sum(weight for failures, weight in distribution.items() if failures >= observed) / total)


def _add_stratum(
    distribution: Mapping[int, float], tries: Sequence[bool], base_tries: Sequence[bool]
) -> dict[int, float]:
    size, base_size = len(tries), len(base_tries)
    failures = tries.count(False) + base_tries.count(False)
    ways = {
        failed: comb(size, failed) * comb(base_size, failures - failed) / comb(size + base_size, failures)
        for failed in range(max(0, failures - base_size), min(size, failures) + 1)
    }
    added = dict[int, float]()
    for known, weight in distribution.items():
        for failed, share in ways.items():
            added[known + failed] = added.get(known + failed, 0.0) + weight * share
    return added


def is_hopeless(cases: Sequence[TriedCase], *, is_rise: bool = False) -> bool:
    """Whether half of the fresh trials speak so little for a difference that the others are not worth their cost."""
    return _combine(1.0, cases, is_rise=is_rise) > 0.9 and _test_together(cases, is_rise=is_rise) > 0.3


def is_noisy(cases: Sequence[TriedCase]) -> bool:
    """Whether trials of one case in one tree differ, so that it takes more of them to decide."""
    return any(len(set(side)) > 1 for each in cases for side in (each.tries, each.base_tries))


def _find_certain(cases: Sequence[TriedCase], *, is_rise: bool = False) -> tuple[TriedCase, ...]:
    corrected = benjamini_hochberg([_test(each, is_rise=is_rise) for each in cases])
    return tuple(case for case, q in zip(cases, corrected, strict=True) if q <= LEVEL)


@record
class Score:
    """The share of the units that the evals notice, of those that can be noticed.

    Attributes:
        noticed: the number of units that are gated or seen.
        units: the number of these and of those that are not noticed.
        low: the lower end of the 95 % interval, in [0, 1].
        high: its upper end.
    """

    noticed: int
    units: int
    low: float = 0.0
    high: float = 1.0

    @property
    def share(self) -> float | None:
        """The share, in [0, 1]; None without units."""
        return self.noticed / self.units if self.units else None


def count_score(judged: Sequence[Judgement]) -> Score:
    """The score of the units, with Wilson's interval."""
    counts = Counter(each.outcome for each in judged)
    noticed = counts[UnitOutcome.GATED] + counts[UnitOutcome.SEEN]
    units = noticed + counts[UnitOutcome.NOT_NOTICED]
    low, high = wilson_interval(noticed, units) if units else (0.0, 1.0)
    return Score(noticed, units, low, high)
