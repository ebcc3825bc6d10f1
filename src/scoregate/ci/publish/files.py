"""Reports as files, written atomically; reports of an earlier run are deleted first."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.ci.publish.delivery import Delivery, PublishTarget, describe_error
from scoregate.errors import UsageError

if TYPE_CHECKING:
    from scoregate.ci.report.view import ReportView


async def publish_files(view: ReportView, target: PublishTarget) -> Delivery:
    """Write every report as a file; a failed one is a warning, and the others are written."""
    remove_files(target.out, target.files)
    return sum((_write_report(target, name, render(view)) for name, render in target.files.items()), Delivery())


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Delete reports of an earlier run, so that none is mistaken for a report of this run.

    Raises:
        UsageError: a file can't be deleted.
    """
    for name in names:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot delete {folder / name} of an earlier run: {error.strerror}",
                advice="Delete it, or choose another folder with --out.",
            ) from None


def _write_report(target: PublishTarget, name: str, chunks: Iterable[str]) -> Delivery:
    try:
        write_atomically(target.out / name, target.redact_chunks(chunks))
    except OSError as error:
        return Delivery(warnings=(f"cannot write {target.out / name}: {error.strerror}",))
    except Exception as error:  # an error in one report must not stop the others
        return Delivery(warnings=(f"cannot create {target.out / name}: {describe_error(error)}",))
    return Delivery()


def write_atomically(path: Path, chunks: Iterable[str]) -> None:
    """Write text so that readers see the old file or the new one, never a part.

    Raises:
        OSError: the file can't be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:  # noqa: PTH123
            file.writelines(chunks)
        umask = os.umask(0)  # it can't be read without setting it
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
