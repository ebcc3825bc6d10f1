"""The steps of all features that the table names."""

from __future__ import annotations

from importlib import import_module

from scoregate.features.table import FEATURES
from scoregate.kernel.job.steps import Step


def _load_step(name: str) -> Step:
    step: Step = import_module(f"{__package__}.{name}.step").STEP
    return step


STEPS: tuple[Step, ...] = tuple(_load_step(each.name) for each in FEATURES if each.in_runs)
