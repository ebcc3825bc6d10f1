"""The baseline: the run that a run is compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import BaseReference, Run

UNREADABLE = "a baseline that could not be read"


@record
class Baseline:
    """What a run is compared with.

    Args:
        run: None if there is none.
        note: describes it, or why there is none; empty if none was requested.
        pool: more runs of the same commit, whose scores count as repeats.
        folder: where it is on disk; empty if it was downloaded.
        unreadable: there may be a baseline, or more of it, that could not be read.
        implicit: no setting names it, so that it is the previous run on a developer's machine.
        earlier: earlier runs of its branch, with only suites for which nothing changed; None if they are no evidence.
    """

    run: Run | None
    note: str = ""
    pool: tuple[Run, ...] = ()
    folder: str = ""
    unreadable: bool = False
    implicit: bool = False
    earlier: tuple[Run, ...] | None = None

    @property
    def reference(self) -> BaseReference | None:
        """The reference that a run stores. It also records a baseline that could not be read."""
        if self.run is None:
            return BaseReference("", UNREADABLE) if self.unreadable else None
        return BaseReference(self.run.id, self.run.name, self.folder, self.implicit)

    def with_runs(self, change: Callable[[Run], Run]) -> Baseline:
        """The same with each of its runs changed."""
        run = None if self.run is None else change(self.run)
        return replace(self, run=run, pool=tuple(map(change, self.pool)))
