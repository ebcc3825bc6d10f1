"""The mark of a run that fell: one of its gates on changes failed, or could not be measured."""

from __future__ import annotations

from scoregate.kernel.types.slots import Slot

FELL: Slot[bool] = Slot("fell", bool)
"""Whether a run fell. It is compared with no later one on a developer's machine, if another can be."""
