"""The hook of `alert`."""

from __future__ import annotations

from dataclasses import replace

from scoregate.ci.steps import Judged, JudgeRun, Step, Work


class AlertStep(Step):
    """Measures again what got worse on the base branch, and reports it."""

    name = "alert"

    async def measure_again(self, work: Work, judged: Judged, judge: JudgeRun) -> Judged:
        from scoregate.ci.job import has_alerts

        if not has_alerts(work.ports.reporting.context):
            return judged
        from scoregate.ci.report.alert import ALERT
        from scoregate.features.alert.second_run import find_alert

        alert, comparison = await find_alert(work, judged, judge), judged.comparison
        return replace(judged, comparison=replace(comparison, slots=comparison.slots.put(ALERT, alert)))


STEP = AlertStep()
