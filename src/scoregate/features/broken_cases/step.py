"""The hooks of `fail_on_broken_cases`."""

from __future__ import annotations

from scoregate.features.broken_cases.declare import FAIL_ON_BROKEN_CASES, RULE
from scoregate.features.broken_cases.rule import check_broken_cases, explain_silence
from scoregate.kernel.gate.check import SuiteCheck
from scoregate.kernel.job.steps import Step, Work


class BrokenCasesStep(Step):
    """Runs cases that a change may have broken again, on both sides, and fails if it has."""

    name = "broken_cases"
    in_shards = True

    async def measure_more(self, work: Work) -> Work:
        from scoregate.features.broken_cases.trials import run_broken_cases

        return await run_broken_cases(work)

    @property
    def checks(self) -> tuple[SuiteCheck, ...]:
        return (SuiteCheck(check_broken_cases, (RULE,), limits=(FAIL_ON_BROKEN_CASES,), explain=explain_silence),)


STEP = BrokenCasesStep()
