"""Write again what is known of a finished run besides its cases."""

from __future__ import annotations

import secrets
from pathlib import Path

from scoregate.ci.archive.folder import RUN_FILE
from scoregate.ci.archive.head import dump_head, head_of, read_head
from scoregate.core.record import Run
from scoregate.errors import RecordError


def amend_run(folder: Path, run: Run) -> None:
    """Replace `run.json`; the cases stay as they are.

    Raises:
        RecordError: the folder holds no run, or cannot be written to.
    """
    crc32 = read_head(folder / RUN_FILE).crc32
    partial = folder / f".run-{secrets.token_hex(4)}.partial"
    try:
        partial.write_bytes(dump_head(head_of(run, crc32)))
        partial.replace(folder / RUN_FILE)
    except OSError as error:
        raise RecordError(f"{folder / RUN_FILE} cannot be written: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)
