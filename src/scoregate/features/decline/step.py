"""The hooks of `max_decline`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.errors import RecordError
from scoregate.features.decline.declare import MAX_DECLINE
from scoregate.features.decline.keys import COMPARED, EARLIER, STORED
from scoregate.kernel.job.steps import Step
from scoregate.kernel.judge.judgement import Baseline, ComparedSides, CompareRuns, Judged
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import Place, Section, Slots

if TYPE_CHECKING:
    from pathlib import Path

    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.gate.check import SuiteCheck
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.judge.settings import Settings


class DeclineStep(Step):
    """Compares the run with an earlier one of its branch, and fails if a score is worse by more than `max_decline`."""

    name = "decline"

    @property
    def checks(self) -> tuple[SuiteCheck, ...]:
        from scoregate.features.decline.rule import CHECK

        return (CHECK,)

    async def find_sides(self, context: JobContext, settings: Settings, slots: Slots) -> Slots:
        if not MAX_DECLINE.is_set_for_any(settings.policy()):
            return slots
        from scoregate.features.decline.earlier_run import find_decline_base
        from scoregate.kernel.job.baseline.earlier import BRANCH_RUNS

        connection, base, list_runs = context.connection, context.base, slots.get(BRANCH_RUNS)
        earlier = await find_decline_base(settings, connection=connection, base=base, list_runs=list_runs)
        return slots.put(EARLIER, earlier)

    async def restore_sides(self, run: Run, root: Path, settings: Settings, slots: Slots) -> Slots:
        try:
            known = run.slots.get(STORED)
        except RecordError as error:
            return slots.put(EARLIER, Baseline(None, error.message, unreadable=True))
        if known is None:
            return slots
        note = f"the earlier run {known.name or known.id} isn't stored with this one"
        return slots.put(EARLIER, Baseline(None, note, unreadable=True))

    def store(self, run: Run, slots: Slots) -> Run:
        earlier = slots.get(EARLIER)
        return replace(run, slots=run.slots.put(STORED, None if earlier is None else earlier.reference))

    def after_compare(self, comparison: Comparison, sides: ComparedSides, compare: CompareRuns) -> Comparison:
        from scoregate.kernel.compare.earlier_runs import mark_as_measured

        earlier = sides.slots.get(EARLIER)
        if earlier is None:
            return comparison
        run = sides.run if earlier.run is None else mark_as_measured(sides.run, earlier.run)
        return replace(comparison, slots=comparison.slots.put(COMPARED, compare(run, earlier)))

    def sections(self, judged: Judged) -> Iterator[Section]:
        past = judged.comparison.slots.get(COMPARED)
        if past is not None and past.base is None and not past.base_unreadable:
            text = f"max_decline was not applied: {past.base_note}."
            yield Section(self.name, Place.BASELINE, sentences=(text,))


STEP = DeclineStep()
