"""Reports as files, written atomically; reports of an earlier run are deleted first."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.ci.publish.delivery import Delivery, PublishTarget, describe_error
from scoregate.ci.publish.forked import start_work, while_process_runs
from scoregate.errors import UsageError

if TYPE_CHECKING:
    from scoregate.ci.report.view import ReportView

# A second process for fewer trials would save less than 0.2 s.
_MANY_TRIALS = 20_000


async def publish_files(view: ReportView, target: PublishTarget) -> Delivery:
    """Write every report as a file; a failed one is a warning, and the others are written.

    For a large run, a second process writes all but the last report, which takes the longest.
    """
    remove_files(target.out, target.files)
    names, pid = list(target.files), os.getpid()
    is_large = sum(suite.trials for suite in view.suites) >= _MANY_TRIALS
    first, last = (names[:-1], names[-1:]) if is_large else ([], names)

    def write_first() -> list[str]:
        return _write_reports(view, target, first, change=partial(while_process_runs, pid))

    collect = start_work(write_first) if first else list[str]
    warnings = _write_reports(view, target, last)
    return Delivery(warnings=(*collect(), *warnings))


def _write_reports(
    view: ReportView,
    target: PublishTarget,
    names: Iterable[str],
    change: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> list[str]:
    """Write some reports; returns what went wrong."""
    deliveries = [_write_report(target, name, change(target.files[name](view))) for name in names]
    return [warning for delivery in deliveries for warning in delivery.warnings]


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
