"""Reports as files, each written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from scoregate.ci.publish.outlet import Delivery, Outlet
from scoregate.ci.report.view import ReportView
from scoregate.errors import UsageError


async def publish_files(view: ReportView, outlet: Outlet) -> Delivery:
    """Every report as a file.

    Raises:
        UsageError: the folder cannot be written to.
    """
    for name, render in outlet.files.items():
        write_atomically(outlet.out / name, outlet.redact_chunks(render(view)))
    return Delivery()


def write_atomically(path: Path, chunks: Iterable[str]) -> None:
    """Write text so that a reader sees the old file or the new one, never a part.

    Raises:
        UsageError: the folder cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", advice="Name another folder with --out.") from None
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:  # noqa: PTH123
            file.writelines(chunks)
        Path(name).chmod(0o666 & ~_umask())
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
