"""How far a suite is, for whoever watches it run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum, isnan

from scoregate.core.case import Status
from scoregate.core.fold import SuiteFold


@dataclass(frozen=True, slots=True)
class Tally:
    """What is known of a suite while it runs.

    `label` tells a suite from others of its log: its id, with its parameters. `planned` is None where nobody knows the
    number of cases beforehand. `means` are of the scores given so far, by evaluator, in [0, 1]; `cost` is in dollars.
    `duration_s` is in seconds, of a suite that has finished and said how long it took.
    """

    log: str
    label: str
    planned: int | None = None
    done: int = 0
    states: Mapping[Status, int] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)
    cost: float = 0.0
    finished: bool = False
    duration_s: float | None = None


def tally_of(fold: SuiteFold, log: str) -> Tally:
    """How far a suite is that tells of every case as it ends."""
    columns, started = fold.columns, fold.started
    scores = {name: [score for score in column if not isnan(score)] for name, column in columns.scores.items()}
    return Tally(
        log,
        fold.label,
        planned=started.cases if started else None,
        done=len(columns),
        states={status: count for status in Status if (count := columns.count(status))},
        means={name: fsum(known) / len(known) for name, known in scores.items() if known},
        cost=fsum(cost for cost in (*columns.costs, _apart(fold)) if cost > 0),
        finished=fold.finished is not None,
        duration_s=fold.finished.duration_s if fold.finished else None,
    )


def _apart(fold: SuiteFold) -> float:
    usage = None if fold.finished is None else fold.finished.usage
    return 0.0 if usage is None else usage.cost or 0.0
