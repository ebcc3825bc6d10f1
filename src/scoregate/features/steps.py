"""The steps of all features that the table names."""

from __future__ import annotations

from importlib import import_module

from scoregate.features.table import FEATURES
from scoregate.kernel.job.steps import Step
from scoregate.kernel.types.declarations.declaration import RunFacts


def load_steps(facts: RunFacts) -> list[Step]:
    """Import the steps of the features that are on.

    Args:
        facts: what is known of the run.
    """
    return [_load_step(each.name) for each in FEATURES if each.in_runs and each.is_on(facts)]


def load_all_steps() -> list[Step]:
    """Import the steps of all features, for commands that list what features offer."""
    return [_load_step(each.name) for each in FEATURES if each.in_runs]


def _load_step(name: str) -> Step:
    step: Step = import_module(f"{__package__}.{name}.step").STEP
    return step
