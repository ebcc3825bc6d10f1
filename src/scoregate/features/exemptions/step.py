"""The hooks of accepted regressions and the quarantine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.kernel.job.steps import Step
from scoregate.kernel.judge.judgement import CompareRuns, Judged
from scoregate.kernel.types.exemptions import EXEMPTIONS, STABLE_CASES

if TYPE_CHECKING:
    from pathlib import Path

    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.job.comment_command import CommandKind
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.judge.judgement import Baseline
    from scoregate.kernel.judge.settings import Settings
    from scoregate.kernel.run.partial_run import Excuse
    from scoregate.kernel.types.runs.run import Run
    from scoregate.kernel.types.slots import Section, Slots


class ExemptionsStep(Step):
    """Keeps how often cases in quarantine have passed, and says which entries count."""

    name = "exemptions"
    in_shards = True

    async def find_sides(self, context: JobContext, settings: Settings, slots: Slots) -> Slots:
        from scoregate.features.exemptions.entries import load_exemptions

        subject = context.subject
        entries = await load_exemptions(
            context.root,
            connection=context.connection,
            request=None if subject is None else subject.request,
            base=context.base,
            folder=context.folder,
            head=context.head,
        )
        return slots.put(EXEMPTIONS, entries)

    async def restore_sides(self, run: Run, root: Path, settings: Settings, slots: Slots) -> Slots:
        from scoregate.features.exemptions.entries import load_job_exemptions

        if slots.get(EXEMPTIONS) is not None:
            return slots
        return slots.put(EXEMPTIONS, await load_job_exemptions(root, settings, os.environ))

    def excuse(self, slots: Slots, base: Run | None) -> Excuse | None:
        entries = slots.get(EXEMPTIONS)
        if entries is None or not entries.active_quarantine:
            return None
        from scoregate.kernel.compare.quarantine import Quarantine

        return Quarantine(entries, base).covers

    def store_base(self, run: Run, slots: Slots) -> Run:
        entries = slots.get(EXEMPTIONS)
        if entries is None or not entries.active_quarantine:
            return run
        from scoregate.features.exemptions.stable_cases import record_quarantine

        return record_quarantine(run, entries)

    def around_compare(self, slots: Slots, compare: CompareRuns, run: Run, baseline: Baseline) -> Comparison:
        entries = slots.get(EXEMPTIONS)
        if entries is None or not entries.active_quarantine:
            return compare(run, baseline)
        from scoregate.features.exemptions.compared_cases import compare_without_quarantine

        return compare_without_quarantine(entries, compare, run, baseline)

    def after_judge(self, run: Run, comparison: Comparison) -> Run:
        if not comparison.quarantined:
            return run
        from scoregate.features.exemptions.stable_cases import list_stable_cases

        return replace(run, slots=run.slots.put(STABLE_CASES, list_stable_cases(comparison.quarantined)))

    @property
    def comment_commands(self) -> Sequence[CommandKind]:
        from scoregate.features.exemptions.accept_command import ACCEPT

        return (ACCEPT,)

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.exemptions.section import build_sections

        return build_sections(judged)


STEP = ExemptionsStep()
