"""The hooks of coverage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.features.coverage.declare import COVERAGE_PROMPTS, COVERAGE_TOOLS
from scoregate.kernel.job.steps import Step
from scoregate.kernel.judge.judgement import Judged

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.job.publish.delivery import Publisher
    from scoregate.kernel.types.slots import Section


class CoverageStep(Step):
    """Says which tools and prompts no case uses."""

    name = "coverage"

    async def before_report(self, comparison: Comparison, context: JobContext) -> Comparison:
        if not _is_on(context):
            return comparison
        from scoregate.features.coverage.use import find_coverage
        from scoregate.features.coverage.view import FOUND

        found = await find_coverage(context, comparison.run)
        return replace(comparison, slots=comparison.slots.put(FOUND, found))

    def open_publishers(self, context: JobContext) -> AbstractAsyncContextManager[Sequence[Publisher]]:
        if not _is_on(context):
            return nullcontext(())
        from scoregate.features.coverage.use import publish_unused_items

        return nullcontext((publish_unused_items,))

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.coverage.section import build_sections
        from scoregate.features.coverage.view import FOUND

        return build_sections(judged.comparison.slots.get(FOUND))


def _is_on(context: JobContext) -> bool:
    return bool(COVERAGE_TOOLS.of(context.settings) or COVERAGE_PROMPTS.of(context.settings))


STEP = CoverageStep()
