"""What `max_decline` keeps in the records of the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scoregate.kernel.types.runs.run import BaseReference
from scoregate.kernel.types.slots import Slot

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.judge.judgement import Baseline

EARLIER: Slot[Baseline] = Slot("decline.earlier")
"""The earlier run of the branch."""
COMPARED: Slot[Comparison] = Slot("decline.compared")
"""The comparison with it."""
STORED: Slot[BaseReference] = Slot("declined_from", BaseReference)
"""The reference to it that a run stores."""
