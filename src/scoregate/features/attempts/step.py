"""The hooks of attempts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.features.attempts.keys import KEPT, POOLED, PUSHES, SHARDS, MeasuredPushes, MergedShards
from scoregate.kernel.job.steps import FINISHED, PlannedRun, Step
from scoregate.kernel.types.runs.evidence import TrialRole

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.job.ports import Ports
    from scoregate.kernel.judge.judgement import Baseline, CompareRuns, Judged
    from scoregate.kernel.judge.settings import Settings
    from scoregate.kernel.types.runs.run import Run
    from scoregate.kernel.types.runs.run_scope import RunShard
    from scoregate.kernel.types.slots import Section, Slots


class AttemptsStep(Step):
    """Counts earlier attempts at the same code as repeats."""

    name = "attempts"

    async def find_sides(self, context: JobContext, settings: Settings, slots: Slots) -> Slots:
        if context.subject is not None and context.subject.request is not None:
            slots = slots.put(PUSHES, MeasuredPushes(None))
        run = slots.get(FINISHED)
        if run is None or run.slots.get(SHARDS) is None:
            return slots
        from scoregate.kernel.job.earlier_attempts import find_attempts

        return (await find_attempts(context, slots))[0]

    async def finish_plan(self, planned: PlannedRun, ports: Ports) -> PlannedRun:
        from scoregate.features.attempts.earlier_runs import keep_earlier

        return await keep_earlier(planned, ports)

    def store(self, run: Run, slots: Slots) -> Run:
        if (kept := slots.get(KEPT)) is not None:
            from scoregate.features.attempts.earlier_runs import copy_earlier

            return copy_earlier(run, kept)
        if (shards := run.slots.get(SHARDS)) is None:
            return run
        from scoregate.features.attempts.earlier_runs import keep_merged
        from scoregate.kernel.job.earlier_attempts import FOUND

        found = slots.get(FOUND)
        return run if found is None else keep_merged(run, shards, found)

    def merge_shards(self, run: Run, shards: Mapping[Path, RunShard], folder: Path, settings: Settings) -> Run:
        return replace(run, slots=run.slots.put(SHARDS, MergedShards(folder, settings.policy())))

    def around_compare(self, slots: Slots, compare: CompareRuns, run: Run, baseline: Baseline) -> Comparison:
        counted = None
        if run.companions_of(TrialRole.MAIN) or run.companions_of(TrialRole.PUSH):
            from scoregate.features.attempts.pooled_run import pool_earlier

            run, counted = pool_earlier(run, baseline.run_ids)
        comparison = compare(run, baseline)
        kept = comparison.slots.put(POOLED, counted).put(PUSHES, slots.get(PUSHES))
        return replace(comparison, slots=kept)

    async def before_report(self, comparison: Comparison, context: JobContext) -> Comparison:
        if comparison.slots.get(PUSHES) is None:
            return comparison
        from scoregate.features.attempts.measured_pushes import count_pushes

        # Not before: slow answers to this must not delay the search for a baseline.
        return replace(comparison, slots=comparison.slots.put(PUSHES, await count_pushes(context)))

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.attempts.section import build_sections

        return build_sections(judged)


STEP = AttemptsStep()
