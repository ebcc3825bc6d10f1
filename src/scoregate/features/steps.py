"""The hooks of all features: the `STEP` in the module `step` of each folder that the table names."""

from __future__ import annotations

from importlib import import_module

from scoregate.ci.steps import Step
from scoregate.core.declarations.declaration import Feature
from scoregate.features.table import FEATURES


def _load_step(feature: Feature) -> Step:
    step: Step = import_module(f"{__package__}.{feature.name}.step").STEP
    return step


STEPS: tuple[Step, ...] = tuple(map(_load_step, FEATURES))
