"""Where the run comes from that a run is held against: one file a source."""

from __future__ import annotations

from dataclasses import dataclass

from scoregate.core.record import Run


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a run is held against. `note` says in words what it is, or why there is none.

    `pool` holds more runs of the same commit, whose scores count as repeats.
    """

    run: Run | None
    note: str
    pool: tuple[Run, ...] = ()
