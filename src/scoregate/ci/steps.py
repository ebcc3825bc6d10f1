"""The hooks of a run: what a feature may do, and when. Each does nothing unless a feature overrides it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from scoregate.ci.baseline import Baseline
from scoregate.ci.settings import Settings
from scoregate.core.records import record
from scoregate.core.runs.run import Run
from scoregate.core.slots import NO_SLOTS, Slots

if TYPE_CHECKING:
    from scoregate.ci.job import JobContext
    from scoregate.ci.report.context import ReportContext
    from scoregate.core.comparison.comparison import Comparison
    from scoregate.core.gate import Verdict
    from scoregate.core.gate.rule import Rule
    from scoregate.core.sections import Section

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


@record
class Judged:
    """What reports are about.

    Attributes:
        comparison: the comparison of the run with its baseline.
        verdict: the verdict of the gate rules.
        context: where the report is read.
    """

    comparison: Comparison
    verdict: Verdict
    context: ReportContext


class Step:
    """A feature's part of a run."""

    name: ClassVar[str]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The gate rules that it adds."""
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

    def sections(self, judged: Judged) -> Iterable[Section]:
        """What it says in reports."""
        return ()
