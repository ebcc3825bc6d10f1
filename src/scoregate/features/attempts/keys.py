"""What this feature keeps until a run is recorded, and while it is judged."""

from __future__ import annotations

from pathlib import Path

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import Slot


@record
class KeptAttempts:
    """The earlier attempts at the code of a run, the oldest first, and the folder of the run."""

    runs: tuple[Run, ...]
    folder: Path


@record
class PooledAttempts:
    """The earlier attempts that count with a run.

    Attributes:
        number: the number of this attempt, from 1.
        earlier: the number of attempts that count with it.
        gaps: the suites of these attempts that do not count, with the reasons.
        pushes: the number of earlier pushes that count.
        unchanged: the suites that nothing changed since then.
    """

    number: int
    earlier: int
    gaps: tuple[str, ...] = ()
    pushes: int = 0
    unchanged: tuple[str, ...] = ()


KEPT: Slot[KeptAttempts] = Slot("attempts.kept")
"""Until the run is recorded."""
POOLED: Slot[PooledAttempts] = Slot("attempts.pooled")
"""In a comparison."""
