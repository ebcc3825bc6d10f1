"""Ratios of a run to its base that limits are set for: of totals, and of the 95th percentile."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, log

from scoregate.core.cases import Columns, percentiles
from scoregate.core.estimates import one_sided_p
from scoregate.core.intervals import measure_spread
from scoregate.core.pairing import Side, pair_sides
from scoregate.core.significance import Trials

_SEED = 20_260_106
_MOST, _FEWEST, _WORK = 999, 199, 10_000_000
_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of the run to the base over the cases of both, as natural logarithms.

    Args:
        value: of the ratio. low: with `high`, its 95 % interval; None where it has none.
        n: pairs.
    """

    value: float
    n: int
    low: float | None = None
    high: float | None = None

    @property
    def times(self) -> float:
        """The ratio itself."""
        return exp(self.value)


def ratio_of_totals(here: Side, there: Side) -> Ratio | None:
    """The ratio of what all cases took together: the change in the bill; None where no case is in both.

    The interval is ± that of log x/y by the delta method: each case's difference is x / mean(x) − y / mean(y), and one
    more case in each direction differs as much as the largest, as in `Spread.interval`.

    Args:
        here: the amounts of the run. there: of the base.
    """
    mean, base, n = shared_means(here, there)
    if not mean or not base:
        return None
    relative = [
        (here.means[case] / mean - before / base, 1) for case, before in there.means.items() if case in here.means
    ]
    low, high = measure_spread(relative).interval()
    value = log(mean / base)
    return Ratio(value, n) if low == -inf else Ratio(value, n, value + low, value + high)


def shared_means(here: Side, there: Side) -> tuple[float | None, float | None, int]:
    """The means of both sides over the cases of both, and how many those are."""
    shared = [case for case in here.means if case in there.means]
    if not shared:
        return None, None, 0
    sums = (sum(map(side.means.__getitem__, shared)) for side in (here, there))
    mean, base = (total / len(shared) for total in sums)
    return mean, base, len(shared)


def total_test(here: Side, there: Side, new: Columns) -> float:
    """The one-sided p of as large a ratio of totals where base and run are swapped within pairs.

    Swaps order the ratio as random signs order the sum of differences, so the test is the same as for scores.
    """
    return one_sided_p(pair_sides(here, there, new))[1]


def ratio_of_p95(here: Side, there: Side) -> Ratio | None:
    """The ratio of the 95th percentiles over the trials of the cases of both; None where no case is."""
    dealt = _paired_trials(here, there)
    return Ratio(_log_ratio(dealt), len(dealt)) if dealt else None


def p95_test(here: Side, there: Side) -> float:
    """The one-sided p of as large a ratio of 95th percentiles where base and run are swapped within pairs.

    Where a case has more trials on one side, its trials are dealt anew instead, each side getting as many as it had.
    """
    dealt = _paired_trials(here, there)
    seen = _log_ratio(dealt)
    return (_swap_pairs if all(len(a) == len(b) for a, b in dealt) else _permute_trials)(dealt, seen)


def _paired_trials(here: Side, there: Side) -> Sequence[Trials]:
    shared = [case for case in here.means if case in there.means]
    ours, theirs = here.values(shared), there.values(shared)
    return [(ours[case], theirs[case]) for case in shared]


def _log_ratio(cases: Sequence[Trials]) -> float:
    (now,) = percentiles((value for new, _ in cases for value in new), _SHARE)
    (before,) = percentiles((value for _, old in cases for value in old), _SHARE)
    return log((now or 0.0) / (before or 0.0))


def _draw_count(trials: int) -> int:
    return max(_FEWEST, min(_MOST, _WORK // trials))


def _swap_pairs(cases: Sequence[Trials], seen: float) -> float:
    """Walks down from the largest value until each side has passed its largest 5 %."""
    ranked = sorted(
        ((value, case, side) for case, both in enumerate(cases) for side in (0, 1) for value in both[side]),
        reverse=True,
    )
    count = len(ranked) // 2
    rank = count - ceil(_SHARE * count) + 1
    source, draws, reached = random.Random(_SEED), _draw_count(len(ranked)), 0
    for _ in range(draws):
        swaps = source.randbytes(len(cases))
        found: list[float] = [0.0, 0.0]
        left = [rank, rank]
        for value, case, side in ranked:
            place = side ^ (swaps[case] & 1)
            left[place] -= 1
            if left[place] == 0:
                found[place] = value
                if left[1 - place] <= 0:
                    break
        reached += log(found[0] / found[1]) >= seen - 1e-9
    return (1 + reached) / (draws + 1)


def _permute_trials(cases: Sequence[Trials], seen: float) -> float:
    source, reached = random.Random(_SEED), 0
    draws = _draw_count(sum(len(new) + len(old) for new, old in cases))
    for _ in range(draws):
        anew = [_shuffle_case(case, source) for case in cases]
        reached += _log_ratio(anew) >= seen - 1e-9
    return (1 + reached) / (draws + 1)


def _shuffle_case(case: Trials, source: random.Random) -> Trials:
    new, old = case
    values = [*new, *old]
    source.shuffle(values)
    return values[: len(new)], values[len(new) :]
