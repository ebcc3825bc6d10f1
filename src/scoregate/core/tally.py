"""How far a suite is, for whoever watches it run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scoregate.core.case import Status


@dataclass(frozen=True, slots=True)
class Tally:
    """What is known of a suite while it runs.

    `label` tells a suite from others of its log: its id, with its parameters. `planned` is None where nobody knows the
    number of cases beforehand. `means` are of the scores given so far, by evaluator, in [0, 1]; `cost` is in US
    dollars.
    """

    log: str
    label: str
    planned: int | None = None
    done: int = 0
    states: Mapping[Status, int] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)
    cost: float = 0.0
    finished: bool = False
