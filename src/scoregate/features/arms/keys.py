"""What arms add to a comparison."""

from __future__ import annotations

from scoregate.core.slots import Slot
from scoregate.features.arms.comparison import ArmComparison

COMPARED: Slot[tuple[ArmComparison, ...]] = Slot("arms.compared")
"""The effect of each skill, or other file for agents."""
