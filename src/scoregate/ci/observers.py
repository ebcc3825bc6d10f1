"""Observers of a run: they get every event while suites run, and see the results so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from scoregate.ci.launch import LaunchEvent
from scoregate.core.runs.cases import CaseResult
from scoregate.core.runs.model_calls import CallTotals
from scoregate.core.runs.reducer import SuiteReducer
from scoregate.core.runs.tally import Tally


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
