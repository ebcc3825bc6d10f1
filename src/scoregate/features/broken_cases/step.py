"""The hooks of `fail_on_broken_cases`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.features.broken_cases.declare import FAIL_ON_BROKEN_CASES, RULE
from scoregate.features.broken_cases.rule import check_broken_cases, explain_silence
from scoregate.kernel.gate.check import SuiteCheck
from scoregate.kernel.job.steps import Step, Work

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.judge.judgement import Baseline, CompareRuns
    from scoregate.kernel.types.runs.run import Run
    from scoregate.kernel.types.slots import Slots


class BrokenCasesStep(Step):
    """Runs cases that a change may have broken again, on both sides, and fails if it has."""

    name = "broken_cases"
    in_shards = True

    async def measure_more(self, work: Work) -> Work:
        from scoregate.features.broken_cases.trials import run_broken_cases

        return await run_broken_cases(work)

    def around_compare(self, slots: Slots, compare: CompareRuns, run: Run, baseline: Baseline) -> Comparison:
        from scoregate.features.broken_cases.cases import BASE_RUNS, list_base_runs

        comparison = compare(run, baseline)
        return replace(comparison, slots=comparison.slots.put(BASE_RUNS, list_base_runs(baseline) or None))

    @property
    def checks(self) -> tuple[SuiteCheck, ...]:
        return (SuiteCheck(check_broken_cases, (RULE,), limits=(FAIL_ON_BROKEN_CASES,), explain=explain_silence),)


STEP = BrokenCasesStep()
