"""What `--resume` asks for, and what it keeps until the run is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.kernel.types.records import record
from scoregate.kernel.types.slots import Slot

if TYPE_CHECKING:
    from scoregate.kernel.run.reuse import ReusableResults


@record
class ResumeRequest:
    """What a command asks for.

    Attributes:
        folder: the folder of the last run outside of a job; None if it must not be reused.
        is_required: whether the run is refused before its first call if the conditions differ.
    """

    folder: Path | None = None
    is_required: bool = False


REQUEST: Slot[ResumeRequest] = Slot("resume.request")
"""The run that a command resumes."""
OFFERED: Slot[tuple[ReusableResults, str]] = Slot("resume.offered")
"""The results that the suites may reuse, and the name of their run."""
