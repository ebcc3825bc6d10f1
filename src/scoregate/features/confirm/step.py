"""The hooks of `confirm`."""

from __future__ import annotations

from dataclasses import replace

from scoregate.features.confirm.declare import Confirm, choose_cases
from scoregate.kernel.job.steps import Step, Work


class ConfirmStep(Step):
    """Runs newly failing cases again."""

    name = "confirm"
    in_shards = True

    async def measure_more(self, work: Work) -> Work:
        if choose_cases(work.settings) is Confirm.OFF:
            return work
        from scoregate.features.confirm.tries import confirm_failures

        comparison = work.compare(work.run, work.baseline)
        return replace(work, run=await confirm_failures(work, comparison))


STEP = ConfirmStep()
