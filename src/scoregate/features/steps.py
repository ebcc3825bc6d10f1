"""The steps of all features that the table names."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from scoregate.features.table import FEATURES
from scoregate.kernel.job.steps import Step
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.types.declarations.declaration import Feature, RunFacts

if TYPE_CHECKING:
    from scoregate.kernel.types.sections import Section


class SectionStep(Step):
    """The step of a feature that only says something in reports.

    Args:
        name: the name of its folder, whose module `section` is imported when a report is made.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def sections(self, judged: Judged) -> Iterable[Section]:
        """The sections that `build_sections` of the folder's module `section` returns."""
        found: Iterable[Section] = import_module(f"{__package__}.{self.name}.section").build_sections(judged)
        return found


def load_steps(facts: RunFacts) -> list[Step]:
    """Import the steps of the features that are on.

    Args:
        facts: what is known of the run.
    """
    return [_load_step(each) for each in FEATURES if each.in_runs and each.is_on(facts)]


def load_all_steps() -> list[Step]:
    """Import the steps of all features, for commands that list what features offer."""
    return [_load_step(each) for each in FEATURES if each.in_runs]


def _load_step(feature: Feature) -> Step:
    if not feature.has_hooks:
        return SectionStep(feature.name)
    step: Step = import_module(f"{__package__}.{feature.name}.step").STEP
    return step
