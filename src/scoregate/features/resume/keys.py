"""What `--resume` keeps until the run is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scoregate.kernel.types.slots import Slot

if TYPE_CHECKING:
    from scoregate.kernel.run.reuse import ReusableResults

OFFERED: Slot[tuple[ReusableResults, str]] = Slot("resume.offered")
"""The results that the suites may reuse, and the name of their run."""
