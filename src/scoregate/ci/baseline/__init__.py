"""Where the run comes from that a run is held against: one file a source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from scoregate.core.record import BaseReference, Run

UNREADABLE = "a base that could not be read"


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a run is held against. `note` says in words what it is, or why there is none; empty where none was wanted.

    `pool` holds more runs of the same commit, whose scores count as repeats. `folder` is where it is on disk; empty
    where it was downloaded. `unreadable`: there may be a base, or more of it, that could not be read; without a run it
    is not confirmed that there is none.
    """

    run: Run | None
    note: str = ""
    pool: tuple[Run, ...] = ()
    folder: str = ""
    unreadable: bool = False

    @property
    def reference(self) -> BaseReference | None:
        """What a run that is compared with it remembers: of one that could not be read, that there may be a base."""
        if self.run is None:
            return BaseReference("", UNREADABLE) if self.unreadable else None
        return BaseReference(self.run.id, self.run.name, self.folder)

    def with_runs(self, change: Callable[[Run], Run]) -> Baseline:
        """The same with each of its runs changed."""
        run = None if self.run is None else change(self.run)
        return replace(self, run=run, pool=tuple(map(change, self.pool)))
