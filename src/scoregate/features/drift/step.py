"""The hooks of `drift_control`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.features.drift.declare import DRIFT_CONTROL
from scoregate.kernel.job.steps import Step, Work
from scoregate.kernel.judge.judgement import CompareRuns, Judged
from scoregate.kernel.types.runs.evidence import TrialRole, Use, does_count

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import CriteriaOf
    from scoregate.kernel.compare.row_labels import AdjustRows
    from scoregate.kernel.judge.judgement import Baseline
    from scoregate.kernel.judge.settings import Settings
    from scoregate.kernel.types.runs.run import Run
    from scoregate.kernel.types.runs.run_scope import RunShard
    from scoregate.kernel.types.slots import Section

_OTHER_COMMIT = "The drift control ran at another commit than the baseline's, so nothing is corrected."


def _find_control(run: Run) -> Run | None:
    return next(iter(run.companions_of(TrialRole.CONTROL)), None)


class DriftStep(Step):
    """Asks a part of the base's cases again, and corrects the changes of scores by how far they moved."""

    name = "drift"
    in_shards = True

    async def measure_more(self, work: Work) -> Work:
        if not DRIFT_CONTROL.of(work.settings):
            return work
        from scoregate.features.drift.control import run_drift_control

        return replace(work, run=await run_drift_control(work.run, work.baseline, work.plan, work.settings, work.ports))

    def merge_shards(self, run: Run, shards: Mapping[Path, RunShard], folder: Path, settings: Settings) -> Run:
        from scoregate.features.drift.merge import merge_controls

        return merge_controls(run, shards, folder, is_required=DRIFT_CONTROL.of(settings) > 0)

    def check_merged(self, run: Run, baseline: Baseline, compare: CompareRuns) -> Run:
        control = _find_control(run)
        if control is None or baseline.run is None or control.code.commit == baseline.run.code.commit:
            return run
        return run.add_notices(_OTHER_COMMIT)

    def adjust_rows(self, run: Run, base: Run, criteria_of: CriteriaOf) -> AdjustRows | None:
        control = _find_control(run) if does_count(TrialRole.CONTROL, Use.CONTROL) else None
        if control is None or control.code.commit is None or control.code.commit != base.code.commit:
            return None
        from scoregate.features.drift.rows import DriftCorrection

        return DriftCorrection(control, criteria_of).adjust

    def sections(self, judged: Judged) -> Iterator[Section]:
        from scoregate.features.drift.section import describe_drift
        from scoregate.kernel.types.slots import Place, Section

        yield Section(self.name, Place.ROWS, sentences=tuple(describe_drift(judged.comparison)))


STEP = DriftStep()
