"""The arms of an agent's suite: with a skill or another file, and without it."""

from __future__ import annotations

from enum import StrEnum


class Arm(StrEnum):
    """What the agent of a suite runs with."""

    WITH = "with"
    WITHOUT = "without"


EXPECTATIONS, TRIGGERED, NOT_TRIGGERED = "expectations", "triggered", "not_triggered"
"""The evaluators of an arm: the share of checks and expectations that hold, whether the skill was loaded where it
should be, and whether it was not loaded where it should not be."""
