"""Recover what killed processes left in a folder of reports."""

from __future__ import annotations

from pathlib import Path

from scoregate.kernel.judge.archive import PARTS, RUN_FOLDER, RecoveredRun, recover
from scoregate.kernel.judge.settings import Settings


def recover_runs(out: Path, settings: Settings) -> list[RecoveredRun]:
    """Recover runs on this machine and on a cluster.

    Args:
        out: the folder of reports.
        settings: the settings of the project.

    Raises:
        RecordError: one can't be written.
    """
    if not any((out / RUN_FOLDER).glob(f"{PARTS}*/")):
        return recover(out)
    from scoregate.features.cluster.recovery import recover_parts

    return [*recover_parts(out, settings), *recover(out)]
