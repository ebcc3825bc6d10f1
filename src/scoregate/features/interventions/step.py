"""The hooks of `explain_regressions`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.features.interventions.declare import EXPLAIN_REGRESSIONS, Explain
from scoregate.kernel.job.steps import Step, Work

if TYPE_CHECKING:
    from scoregate.kernel.judge.judgement import Judged, JudgeRun
    from scoregate.kernel.types.slots import Section


class InterventionsStep(Step):
    """Finds which part of a change caused a drop, once a gate fails for it."""

    name = "interventions"

    async def check_verdict(self, work: Work, judged: Judged, judge: JudgeRun) -> Judged:
        if EXPLAIN_REGRESSIONS.of(work.settings) is not Explain.AUTO:
            return judged
        from scoregate.features.interventions.cause.explanation import (
            EXPLANATION,
            Explanation,
            explain_drop,
            list_suites,
        )

        if work.ports.stop.is_set() or not (suites := list_suites(work, judged)):
            return judged
        try:
            found = await explain_drop(judged.comparison, work.plan, work.settings, work.ports, suites=suites)
        except Exception as error:
            found = Explanation(reason=f"the search failed ({type(error).__name__}: {error})")
        run = replace(judged.comparison.run, slots=judged.comparison.run.slots.put(EXPLANATION, found))
        work.ports.amend(replace(work.run, slots=run.slots))
        return replace(judged, comparison=replace(judged.comparison, run=run))

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.interventions.cause.section import build_sections

        return build_sections(judged)


STEP = InterventionsStep()
