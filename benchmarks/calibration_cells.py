"""One cell of the calibration: many pull requests of one kind, and how often each method calls them changed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, sqrt

import numpy as np
from calibration_scores import Array, Kind
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from scoregate.core.distributions import t_quantile
from scoregate.core.pairs import Pairs
from scoregate.core.stats import Estimate, examine

ALPHA = 0.05
_SEED = 20_260_101


@dataclass(frozen=True)
class Effort:
    """How many pull requests are drawn, and of how many our own, slower test is asked: see `_asked`.

    `asked` is by the p of the t test: below 0.01, to 0.03, to 0.08, to 0.2, above.
    """

    no_op: int
    worsened: int
    asked: tuple[int, int, int, int, int]

    def draws(self, n: int, *, worse: bool) -> int:
        """Return how many pull requests of n cases to draw: half as many where each is large."""
        return (self.worsened if worse else self.no_op) // (2 if n >= 1_000 else 1)


@dataclass(frozen=True)
class Rate:
    """A share of pull requests and its Monte Carlo standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.error:.3f}"


@dataclass(frozen=True)
class Cell:
    """What was found for n cases, repeated as often: by us and by others, and how often our interval was right.

    In a no-op pull request every call is false, in a worsened one only `worse` counts. `others` are shares by name;
    `repeats` is 0 where they depend on the case.
    """

    kind: str
    n: int
    repeats: int
    worse: bool
    ours: Rate
    covered: Rate
    others: dict[str, float]


def measure(kind: Kind, n: int, repeats: int, *, worse: bool, effort: Effort) -> Cell:
    """Draw pull requests and ask everyone about them; the same numbers every time."""
    source = default_rng([_SEED, *kind.name.encode(), n, repeats, worse])
    drawn = kind.differences(source, (effort.draws(n, worse=worse), n), repeats=repeats, worse=worse)
    return judge(source, drawn, kind, repeats=repeats, worse=worse, effort=effort)


def judge(source: Generator, drawn: Array, kind: Kind, *, repeats: int, worse: bool, effort: Effort) -> Cell:
    """Ask everyone about pull requests of which each row of `drawn` holds the cases' differences."""
    binary, t = kind.name == "binary" and repeats == 1, _t(drawn)
    strata = list(_asked(source, drawn, t, effort.asked, binary=binary))
    effect = kind.effect if worse else 0.0
    ours = _rate(strata, lambda found: found.p <= ALPHA and (found.delta < 0 or not worse))
    covered = _rate(strata, lambda found: found.low <= effect <= found.high)
    others = _others(drawn, t, worse=worse, binary=binary)
    return Cell(kind.name, drawn.shape[1], repeats, worse, ours, covered, others)


def _t(drawn: Array) -> Array:
    n = drawn.shape[1]
    mean, deviation = drawn.mean(axis=1), drawn.std(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Array = np.nan_to_num(mean / (deviation / sqrt(n)), nan=0.0)
    return t


def _others(drawn: Array, t: Array, *, worse: bool, binary: bool) -> dict[str, float]:
    mean, critical = drawn.mean(axis=1), t_quantile(1 - ALPHA / 2, drawn.shape[1] - 1)
    down: NDArray[np.bool_] = mean < 0 if worse else np.ones_like(mean, dtype=bool)
    called = {"t": np.abs(t) > critical, "5 points": np.abs(mean) > 0.05 + 1e-9, "any": np.abs(mean) > 1e-9}
    if binary:
        called["McNemar"] = _mcnemar(drawn)
    return {name: float((down & calls).mean()) for name, calls in called.items()}


def _mcnemar(drawn: Array) -> NDArray[np.bool_]:
    better, worse = (drawn > 0).sum(axis=1), (drawn < 0).sum(axis=1)
    limits = np.array([_most(m) for m in range(drawn.shape[1] + 1)])
    calls: NDArray[np.bool_] = np.minimum(better, worse) <= limits[better + worse]
    return calls


@cache
def _most(m: int) -> int:
    """Return the largest smaller count among m changed cases that the exact test calls; -1 where there is none."""
    total = 0
    for k in range(m + 1):
        total += comb(m, k)
        if 2 * total > ALPHA * 2**m:
            return k - 1
    return m


@dataclass(frozen=True)
class _Stratum:
    """So many of all `drawn` pull requests, and what our test found in some of them."""

    members: int
    drawn: int
    found: list[Estimate]


def _asked(source: Generator, drawn: Array, t: Array, sizes: Sequence[int], *, binary: bool) -> Iterator[_Stratum]:
    """Ask our test about some of the pull requests, most of them where its answer is open.

    The rates stay unbiased: pull requests are put into strata by their t, and each stratum's answers weigh what the
    stratum does. Within one they are taken at even steps along t, from a random start.
    """
    limits = [t_quantile(1 - p / 2, drawn.shape[1] - 1) for p in (0.2, 0.08, 0.03, 0.01)]
    stratum, order = np.digitize(np.abs(t), limits), np.argsort(np.abs(t))
    for at, size in enumerate(reversed(sizes)):
        members = order[stratum[order] == at]
        step = max(1.0, len(members) / size)
        chosen = members[np.arange(source.random() * step, len(members), step).astype(int)]
        found = [examine(_pairs(drawn[row], binary=binary), bound=1.0) for row in chosen]
        yield _Stratum(len(members), len(t), found)


def _pairs(differences: Array, *, binary: bool) -> Pairs:
    rose, fell = int((differences > 0).sum()), int((differences < 0).sum())
    return Pairs(len(differences), tuple((d, 1) for d in differences.tolist()), rose=rose, fell=fell, binary=binary)


def _rate(strata: Sequence[_Stratum], hit: Callable[[Estimate], bool]) -> Rate:
    """Return the share of all pull requests that are hit; both drawing them and asking about some make its error."""
    value = variance = 0.0
    for stratum in (stratum for stratum in strata if stratum.found):
        asked, weight = len(stratum.found), stratum.members / stratum.drawn
        share = sum(map(hit, stratum.found)) / asked
        value += weight * share
        variance += weight**2 * share * (1 - share) * (1 / asked - 1 / stratum.members)
    return Rate(value, sqrt(variance + value * (1 - value) / strata[0].drawn))
