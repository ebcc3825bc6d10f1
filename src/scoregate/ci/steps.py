"""The hooks of a run: what a feature may do, and when. Each does nothing unless a feature overrides it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from scoregate.ci.baseline import Baseline
from scoregate.ci.settings import Settings
from scoregate.core.records import record
from scoregate.core.runs.run import Run
from scoregate.core.slots import NO_SLOTS, Slots

if TYPE_CHECKING:
    from scoregate.ci.job import JobContext
    from scoregate.core.comparison.comparison import Comparison
    from scoregate.core.gate.check import SuiteCheck

CompareRuns: TypeAlias = "Callable[[Run, Baseline], Comparison]"


@record
class ComparedSides:
    """What a judgement reads: the run, its baseline, and what features add.

    Attributes:
        run: the run.
        baseline: what it is compared with.
        slots: what features add.
    """

    run: Run
    baseline: Baseline
    slots: Slots = NO_SLOTS


class Step:
    """A feature's part of a run."""

    name: ClassVar[str]

    @property
    def checks(self) -> tuple[SuiteCheck, ...]:
        """The checks of the gate that it adds."""
        return ()

    async def find_sides(self, context: JobContext, settings: Settings, slots: Slots) -> Slots:
        """Find what else the run is compared with, before money is spent."""
        return slots

    def restore_sides(self, run: Run, slots: Slots) -> Slots:
        """The same for a stored run that is judged again, from what `store` kept."""
        return slots

    def store(self, run: Run, slots: Slots) -> Run:
        """Keep in the run what judging it again needs."""
        return run

    def after_compare(self, comparison: Comparison, sides: ComparedSides, compare: CompareRuns) -> Comparison:
        """Add a comparison with another side."""
        return comparison
