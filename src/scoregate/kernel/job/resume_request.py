"""What `--resume` asks for."""

from __future__ import annotations

from pathlib import Path

from scoregate.kernel.types.records import record
from scoregate.kernel.types.slots import Slot


@record
class ResumeRequest:
    """The run that a command continues, or measures once more if it had finished.

    Attributes:
        folder: the folder of the last run outside of a job; None if it must not be reused.
        is_required: whether the run is refused before its first call if the conditions differ.
    """

    folder: Path | None = None
    is_required: bool = False


REQUEST: Slot[ResumeRequest] = Slot("resume.request")
"""What a command asks for; empty without `--resume`."""
