"""Twelve evaluators of the same answers, on pull requests that change nothing: how often is any of them called?"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from calibration_cells import ALPHA, Rate
from calibration_scores import KINDS, Array
from numpy.random import Generator, default_rng

from scoregate.core.columns import Columns
from scoregate.core.compare import compare
from scoregate.core.criteria import Criteria
from scoregate.core.events import EvaluatorInfo
from scoregate.core.families import holm
from scoregate.core.record import Run, SuiteResult
from scoregate.core.rows import Label, Row, in_family

EVALUATORS = [(f"{kind.name}-{at}", kind) for kind in KINDS for at in range(4)]
_SHARED = 0.85
_SEED = 20_260_102
_CRITERIA = Criteria(alpha=ALPHA, min_effect=0.0)


@dataclass(frozen=True)
class Family:
    """Shares of no-op pull requests of n cases with any call: by each p alone, by labels, by Holm as gates read them.

    `correlation` is the average between the differences of two evaluators.
    """

    n: int
    alone: Rate
    labels: Rate
    gates: Rate
    correlation: float


def measure(n: int, pull_requests: int) -> Family:
    """Compare simulated runs as the product does, from their columns on; the same numbers every time."""
    source, rows, moved = default_rng([_SEED, n]), list[Sequence[Row]](), list[Array]()
    for _ in range(pull_requests):
        qualities = [kind.quality(source, (n,)) for _, kind in EVALUATORS]
        base, new = _scores(source, qualities), _scores(source, qualities)
        rows.append(compare(_run(new), _run(base), criteria=_CRITERIA).rows)
        moved.append(new - base)
    return Family(
        n,
        _share([any((row.p or 0.0) <= ALPHA for row in found) for found in rows]),
        _share([any(row.label in (Label.BETTER, Label.WORSE) for row in found) for found in rows]),
        _share([min(holm(_ps(found)), default=1.0) <= ALPHA for found in rows]),
        _correlation(np.concatenate(moved, axis=1)),
    )


def _scores(source: Generator, qualities: Sequence[Array]) -> Array:
    """Return a row of scores for each evaluator; they see the same answer, so that mostly they share their luck."""
    shape = (len(qualities), len(qualities[0]))
    luck = np.where(source.random(shape) < _SHARED, source.random(shape[1]), source.random(shape))
    return np.array([EVALUATORS[at][1].trial(source, quality, luck[at]) for at, quality in enumerate(qualities)])


def _run(scores: Array) -> Run:
    n, columns = scores.shape[1], Columns()
    columns.hashes, columns.digests = [f"case-{at}" for at in range(n)], [""] * n
    columns.repeats, columns.statuses = array("l", [0] * n), bytearray(n)
    for (name, _), found in zip(EVALUATORS, scores, strict=True):
        columns.scores[name] = array("d", found.tolist())
    infos = {name: EvaluatorInfo(name) for name, _ in EVALUATORS}
    suite = SuiteResult("bot", "bot", evaluators=infos, columns=columns, complete=True)
    return Run("run", started=0, finished=1, version="1", suites=(suite,))


def _ps(rows: Sequence[Row]) -> list[float]:
    return [row.p or 0.0 for row in rows if in_family(row, ALPHA)]


def _share(calls: Sequence[bool]) -> Rate:
    share = sum(calls) / len(calls)
    return Rate(share, (share * (1 - share) / len(calls)) ** 0.5)


def _correlation(moved: Array) -> float:
    between: Array = np.asarray(np.corrcoef(moved))
    return float(between[np.triu_indices(len(between), k=1)].mean())
