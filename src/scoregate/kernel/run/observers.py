"""Observers of a run: they get every event while suites run, and see the results so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from scoregate.kernel.run.launch import LaunchEvent
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.model_calls import CallTotals
from scoregate.kernel.types.runs.reducer import SuiteReducer
from scoregate.kernel.types.runs.tally import Tally


class Recording(Protocol):
    """The results so far: of all scripts on one machine, or of all parts on a cluster.

    Attributes:
        launches: the number of scripts.
        message: the message of the run.
        finished: the trials that the last event finished, each with its suite.
    """

    launches: int
    message: str | None
    finished: list[tuple[SuiteReducer, CaseResult]]

    @property
    def stage(self) -> str:
        """The name of the folder of the run."""
        ...

    def count_calls(self) -> CallTotals | None:
        """The calls of models so far; None if they aren't counted."""
        ...

    def tallies(self) -> Iterator[tuple[str, Tally]]:
        """How far every suite is, each with its script."""
        ...


Observer: TypeAlias = Callable[[LaunchEvent, Recording], None]
