"""All features, in the order in which their hooks are called."""

from __future__ import annotations

from scoregate.ci.steps import Step
from scoregate.features.decline.step import DeclineStep

STEPS: tuple[Step, ...] = (DeclineStep(),)
