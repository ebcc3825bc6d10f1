"""All features, in the order in which their hooks are called."""

from __future__ import annotations

from scoregate.ci.steps import Step
from scoregate.features.confirm.step import ConfirmStep
from scoregate.features.decline.step import DeclineStep
from scoregate.features.drift.step import DriftStep
from scoregate.features.extras.step import ExtrasStep

# Failures are confirmed last: repeats and the control can change which cases fail newly.
STEPS: tuple[Step, ...] = (DeclineStep(), ExtrasStep(), DriftStep(), ConfirmStep())
