"""One run of one suite, as far as it was heard."""

from __future__ import annotations

from asyncio import TimerHandle
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from scoregate.ci.listen.index import Index
from scoregate.ci.listen.problems import Problems
from scoregate.core.events import SuiteStarted
from scoregate.core.suite_labels import label_of
from scoregate.core.tally import Tally


@dataclass(slots=True, eq=False)
class SuiteRun:
    """What is kept of it in memory.

    `id` is what its SDK calls it by, and the log of its events. Nothing is recorded of one that is not `heard`.
    `duration_s` is None until it has ended. `problems` are those told of the suite itself,
    `reviews` the names of what people are asked to judge, `crowned` the cases of which a battle had nobody to beat.
    """

    id: str
    suite: str
    heard: bool
    sdk: str | None = None
    params: Mapping[str, Any] | None = None
    index: Index = field(default_factory=Index)
    started: float = field(default_factory=perf_counter)
    duration_s: float | None = None
    problems: Problems = field(default_factory=Problems)
    reviews: set[str] = field(default_factory=set)
    crowned: set[str] = field(default_factory=set)
    timer: TimerHandle | None = None

    @property
    def open(self) -> bool:
        """Whether it has not ended."""
        return self.duration_s is None

    def end(self) -> None:
        """It has ended now."""
        self.duration_s = round(perf_counter() - self.started, 4)

    def forget(self) -> None:
        """Everything was told: its cases are needed no more."""
        self.index, self.crowned = Index(), set()

    def beginning(self) -> SuiteStarted:
        """What is said at its start."""
        return SuiteStarted(suite=self.suite, params=self.params, sdk=self.sdk)

    def tally(self, *, finished: bool = False) -> Tally:
        """How far it is."""
        return Tally(
            self.id,
            label_of(self.suite, self.params),
            done=len(self.index.rows),
            states=self.index.states,
            means=self.index.means,
            finished=finished,
            duration_s=self.duration_s,
        )
