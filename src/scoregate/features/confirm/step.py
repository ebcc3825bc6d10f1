"""The hooks of `confirm`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.features.confirm.declare import Confirm, choose_cases
from scoregate.kernel.job.steps import Step, Work
from scoregate.kernel.judge.judgement import CompareRuns
from scoregate.kernel.types.runs.confirmations import confirmations_of, with_confirmations

if TYPE_CHECKING:
    from scoregate.kernel.judge.judgement import Baseline
    from scoregate.kernel.types.runs.run import Run


class ConfirmStep(Step):
    """Runs newly failing cases again."""

    name = "confirm"
    in_shards = True

    async def measure_more(self, work: Work) -> Work:
        if choose_cases(work.settings) is Confirm.OFF:
            return work
        from scoregate.features.confirm.tries import confirm_failures

        comparison = work.compare(work.run, work.baseline)
        return replace(work, run=await confirm_failures(work.run, comparison, work.plan, work.settings, work.ports))

    def check_merged(self, run: Run, baseline: Baseline, compare: CompareRuns) -> Run:
        from scoregate.features.confirm.tries import MOST_CASES, list_failing_cases

        known = confirmations_of(run)
        if len(known) <= MOST_CASES:
            return run
        # Every shard confirms at most 15 new failures. Those count that one machine would have run again.
        comparison = compare(with_confirmations(run, ()), baseline)
        cases = {(each.label, each.case) for each in list_failing_cases(comparison, Confirm.ALL)}
        return with_confirmations(run, (each for each in known if (each.suite, each.case) in cases))


STEP = ConfirmStep()
