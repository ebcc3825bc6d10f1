"""The folder that a run and its reports go to: of their own, for one run at a time, over nothing of anybody else."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from scoregate.ci.archive import REPORT_FILE, RUN_FILE, RUN_FOLDER
from scoregate.ci.identity import in_ci
from scoregate.ci.publish.files import remove_files
from scoregate.ci.reporting import REPORTS
from scoregate.errors import UsageError

_ADVICE = "Name a folder of their own with --out, such as scoregate-out."
_RECORD = f"{RUN_FOLDER}/{RUN_FILE}"
_RESULT = REPORTS["json"][0]
_BEGINNING = b'{\n  "schema_version"'
_LOCK = ".lock"


@contextmanager
def hold_out(out: Path, root: Path) -> Iterator[None]:
    """Have the folder for this process alone until the block ends, without the reports of an earlier run.

    The operating system releases it if the process is killed. A folder that is made for this is hidden from git, but
    not in a job, and goes if nothing was written.

    Raises:
        UsageError: another process writes to it, or reports cannot go there.
    """
    check_out(out, root)
    made = not out.exists()
    try:
        with _locked(out):
            remove_files(out, _outdated())
            yield
    finally:
        if made:
            _leave(out)


def _outdated() -> set[str]:
    """The reports of an earlier run; outside of jobs its page stays with that run until a newer one takes its place."""
    kept = set() if in_ci(os.environ) else {REPORT_FILE}
    return {file for file, _ in REPORTS.values()} - kept


def _leave(out: Path) -> None:
    with suppress(OSError):  # it holds something
        out.rmdir()
    with suppress(OSError):
        if out.exists() and not in_ci(os.environ):
            (out / ".gitignore").write_text("*\n", encoding="utf-8")


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    path = out / _LOCK
    try:
        out.mkdir(parents=True, exist_ok=True)
        file = _open_locked(path)
    except BlockingIOError:
        holder = path.read_text(encoding="ascii", errors="replace")[:20] or "unknown"
        raise UsageError(
            f"another scoregate run (process {holder}) is writing to {out.resolve()}",
            advice="Wait until it has ended, or name another folder with --out.",
        ) from None
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}", advice="Name another folder with --out.") from None
    with file:
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _open_locked(path: Path) -> IO[str]:
    """The file, with our process's number in it; anew where its holder has deleted it since it was opened."""
    while True:
        file = path.open("a+", encoding="ascii")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.fstat(file.fileno()).st_ino == path.stat().st_ino:
                file.truncate(0)
                file.write(str(os.getpid()))
                file.flush()
                return file
        except BaseException:
            file.close()
            raise
        file.close()


def check_out(out: Path, root: Path) -> None:
    """See that reports can go there, before anything is run or written.

    Raises:
        UsageError: the folder holds the project, or where we are, or reports that are not of our making.
    """
    if any(here.resolve().is_relative_to(out.resolve()) for here in (root, Path.cwd())):
        raise UsageError(
            f"reports cannot go to {out.resolve()}: it holds the project or the working directory", advice=_ADVICE
        )
    names = (*(file for file, _ in REPORTS.values()), _RECORD)
    if (there := [name for name in names if (out / name).exists()]) and not _is_ours(out):
        raise UsageError(
            f"reports cannot go to {out.resolve()}: {', '.join(there)} there would be lost, not written by scoregate",
            advice=f"{_ADVICE} If they can go, delete them.",
        )


def _is_ours(out: Path) -> bool:
    """Whether a run was reported to the folder before; a record that is damaged still begins as ours do."""
    return any(_beginning(out / name) == _BEGINNING for name in (_RECORD, _RESULT))


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(len(_BEGINNING))
    except OSError:
        return b""
