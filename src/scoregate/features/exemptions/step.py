"""The hooks of accepted regressions and the quarantine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.ci.steps import Judged, Step

if TYPE_CHECKING:
    from scoregate.ci.comment_command import CommandKind
    from scoregate.core.comparison.comparison import Comparison
    from scoregate.core.runs.run import Run
    from scoregate.core.sections import Section


class ExemptionsStep(Step):
    """Keeps how often cases in quarantine have passed, and says which entries count."""

    name = "exemptions"

    def after_judge(self, run: Run, comparison: Comparison) -> Run:
        if not comparison.quarantined:
            return run
        from scoregate.core.comparison.stable_cases import list_stable_cases
        from scoregate.core.exemptions import STABLE_CASES

        return replace(run, slots=run.slots.put(STABLE_CASES, list_stable_cases(comparison.quarantined)))

    @property
    def comment_commands(self) -> Sequence[CommandKind]:
        from scoregate.features.exemptions.accept_command import ACCEPT

        return (ACCEPT,)

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.exemptions.section import build_sections

        return build_sections(judged)


STEP = ExemptionsStep()
