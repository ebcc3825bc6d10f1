"""The hook of `repeats = "auto"`."""

from __future__ import annotations

from dataclasses import replace

from scoregate.kernel.job.steps import Step, Work


class ExtrasStep(Step):
    """Repeats undecided cases in the run and in its baseline."""

    name = "extras"

    async def measure_more(self, work: Work) -> Work:
        if work.settings.repeats != "auto":
            return work
        from scoregate.features.extras.repeats import repeat_undecided_cases

        run, baseline = await repeat_undecided_cases(work)
        return replace(work, run=run, baseline=baseline)


STEP = ExtrasStep()
