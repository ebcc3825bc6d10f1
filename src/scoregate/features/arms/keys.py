"""What arms add to a comparison."""

from __future__ import annotations

from scoregate.features.arms.comparison import ArmComparison
from scoregate.kernel.types.slots import Slot

EFFECTS: Slot[tuple[ArmComparison, ...]] = Slot("arms.compared")
"""The effect of each skill, or other file for agents."""
