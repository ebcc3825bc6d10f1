"""What this feature keeps until a run is recorded, and while it is judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Policy
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import Slot


@record
class KeptRuns:
    """The earlier attempts and pushes that may count with a run, the oldest first, and the folder of the run."""

    runs: Mapping[TrialRole, tuple[Run, ...]]
    folder: Path


@record
class MergedShards:
    """The folder of a run that was merged here from shards, and the policy of the project."""

    folder: Path
    policy: Policy


@record
class PooledRuns:
    """The earlier attempts and pushes that count with a run.

    Attributes:
        number: the number of this attempt, from 1.
        attempts: the number of earlier attempts that count with it.
        pushes: the number of earlier pushes that count.
        unchanged: the suites that nothing changed since these pushes.
        gaps: the suites of earlier attempts that do not count, with the reasons.
    """

    number: int
    attempts: int = 0
    pushes: int = 0
    unchanged: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


@record
class MeasuredPushes:
    """How many pushes to a pull request were measured.

    Attributes:
        count: their number, with the one that is reported; None if GitHub does not say it.
        is_all: whether there are no more.
    """

    count: int | None
    is_all: bool = True


KEPT: Slot[KeptRuns] = Slot("attempts.kept")
"""Until the run is recorded."""
SHARDS: Slot[MergedShards] = Slot("attempts.shards")
"""In a run that was merged here."""
POOLED: Slot[PooledRuns] = Slot("attempts.pooled")
"""In a comparison."""
PUSHES: Slot[MeasuredPushes] = Slot("attempts.pushes")
"""In the slots of a job on a pull request, and in its comparison; counted before it is reported."""
