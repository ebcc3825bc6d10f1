"""Where the run comes from that a run is held against: one file a source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from scoregate.core.record import Run


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a run is held against. `note` says in words what it is, or why there is none; empty where none was wanted.

    `pool` holds more runs of the same commit, whose scores count as repeats.
    """

    run: Run | None
    note: str = ""
    pool: tuple[Run, ...] = ()

    def with_runs(self, change: Callable[[Run], Run]) -> Baseline:
        """The same with each of its runs changed."""
        run = None if self.run is None else change(self.run)
        return replace(self, run=run, pool=tuple(map(change, self.pool)))
