"""Reports as files, each written whole or not at all, never beside those of an earlier run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from scoregate.ci.publish.outlet import Delivery, Outlet, described
from scoregate.ci.report.view import ReportView
from scoregate.errors import UsageError


async def publish_files(view: ReportView, outlet: Outlet) -> Delivery:
    """Every report as a file; one that cannot be made or written is a warning, and the others are written."""
    remove_files(outlet.out, outlet.files)
    return sum((_publish(outlet, name, render(view)) for name, render in outlet.files.items()), Delivery())


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Delete reports of an earlier run: none may pass for one of this run, and a full disk has more room without them.

    Raises:
        UsageError: one cannot be deleted.
    """
    for name in names:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(
                f"{folder / name} of an earlier run cannot be deleted: {error.strerror}",
                advice="Delete it, or name another folder with --out.",
            ) from None


def _publish(outlet: Outlet, name: str, chunks: Iterable[str]) -> Delivery:
    try:
        write_atomically(outlet.out / name, outlet.redact_chunks(chunks))
    except OSError as error:
        return Delivery(warnings=(f"{outlet.out / name} could not be written: {error.strerror}",))
    except Exception as error:  # what one report cannot show must not cost the others
        return Delivery(warnings=(f"{outlet.out / name} could not be made: {described(error)}",))
    return Delivery()


def write_atomically(path: Path, chunks: Iterable[str]) -> None:
    """Write text so that a reader sees the old file or the new one, never a part.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
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
