"""What the rankings of variants keep in the records of the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scoregate.kernel.types.slots import Slot

if TYPE_CHECKING:
    from scoregate.kernel.compare.variants import VariantRanking

RANKINGS: Slot[tuple[VariantRanking, ...]] = Slot("variants.rankings")
"""The rankings of the variants of each suite that has any, in the run alone."""
