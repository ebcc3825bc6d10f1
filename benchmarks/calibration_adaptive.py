"""Adaptive repeats: more trials, on both sides, of those cases only whose first trials differ."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from calibration_cells import Cell, Effort, judge
from calibration_scores import Array, Kind
from numpy.random import Generator, default_rng

MORE = 4
SIZES = (50, 200)
_SEED = 20_260_103


@dataclass(frozen=True)
class Adaptive:
    """What adaptive repeats find on pull requests of one kind and size, with so many trials a case on either side."""

    no_op: Cell
    worsened: Cell
    trials: float


def measure(kind: Kind, n: int, effort: Effort) -> Adaptive:
    """Draw pull requests and ask our test about them; the same numbers every time."""
    cells, shares = list[Cell](), list[float]()
    for worse in (False, True):
        source = default_rng([_SEED, *kind.name.encode(), n, worse])
        drawn, share = _differences(source, kind, (effort.draws(n, worse=worse), n), worse=worse)
        cells.append(judge(source, drawn, kind, repeats=0, worse=worse, effort=effort))
        shares.append(share)
    return Adaptive(cells[0], cells[1], 1 + MORE * shares[0])


def _differences(source: Generator, kind: Kind, shape: tuple[int, int], *, worse: bool) -> tuple[Array, float]:
    """Return the difference of each case over all its trials, and the share of cases that were repeated.

    A case whose only trials agree is left alone; one that differed once stays of interest whatever its next trials
    show, so that two rounds of two trials are four.
    """
    quality = kind.quality(source, shape)
    sides: Sequence[Array] = (quality, quality * (1 - kind.drop * worse))
    base, new = (kind.side(source, side, 1) for side in sides)
    more_base, more_new = (kind.side(source, side, MORE) for side in sides)
    differ = np.abs(new - base) > 1e-9
    pooled = (new - base + MORE * (more_new - more_base)) / (1 + MORE)
    pooled[np.abs(pooled) < 1e-9] = 0.0
    return np.where(differ, pooled, 0.0), float(differ.mean())
