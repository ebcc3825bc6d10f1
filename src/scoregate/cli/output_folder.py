"""The output folder of a command: locked for one run at a time, without files that scoregate did not write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from scoregate.cli.printed_output import list_output_files
from scoregate.errors import UsageError
from scoregate.kernel.host.runner import in_ci
from scoregate.kernel.job.publish.files import remove_files
from scoregate.kernel.judge.archive import REPORT_FILE, RUN_FILE, RUN_FOLDER
from scoregate.kernel.judge.archive.lock import lock_folder

_ADVICE = "Choose a folder for reports only with --out, such as scoregate-out."
_RUN_RECORD = f"{RUN_FOLDER}/{RUN_FILE}"
_RESULT = "result.json"
_REPORTS = ("junit.xml", "comment.md", _RESULT, REPORT_FILE)
_SUITES = (".py", ".testset.toml")
_MOST_FILES = 1_000
_BEGINNING = b'{\n  "schema_version"'


@contextmanager
def lock_output(out: Path, root: Path) -> Iterator[None]:
    """Lock the output folder until the block ends, and delete the reports of an earlier run.

    A folder that is created here gets a `.gitignore`, except in CI. It is removed if nothing was written.

    Raises:
        UsageError: another process writes to the folder, or reports can't go there.
    """
    check_output(out, root)
    created = not out.exists()
    try:
        with lock_folder(out):
            # Outside of CI the page of an earlier run stays until a newer one replaces it.
            kept = set() if in_ci(os.environ) else {REPORT_FILE}
            remove_files(out, {*_REPORTS, *list_output_files(out)} - kept)
            yield
    finally:
        if created:
            with suppress(OSError):  # it is not empty
                out.rmdir()
            with suppress(OSError):
                if out.exists() and not in_ci(os.environ):
                    (out / ".gitignore").write_text("*\n", encoding="utf-8")


def check_output(out: Path, root: Path) -> None:
    """Check that reports can go to a folder, before anything is run or written.

    Raises:
        UsageError: the folder holds the project, the working directory, suites, or reports that scoregate did not
            write.
    """
    if any(folder.resolve().is_relative_to(out.resolve()) for folder in (root, Path.cwd())):
        raise UsageError(
            f"cannot write reports to {out.resolve()}: it holds the project or the working directory", advice=_ADVICE
        )
    names = (*_REPORTS, _RUN_RECORD)
    if (existing := [name for name in names if (out / name).exists()]) and not _is_output_folder(out):
        raise UsageError(
            f"cannot write reports to {out.resolve()}: this would replace {', '.join(existing)}, "
            "which scoregate did not write",
            advice=f"{_ADVICE} Or delete these files if you don't need them.",
        )
    if (suite := _find_suite(out)) and not _is_output_folder(out):
        raise UsageError(f"cannot write reports to {out.resolve()}: it holds suites, such as {suite}", advice=_ADVICE)


def _find_suite(out: Path) -> str:
    """A file in the folder that may be a suite; empty if there is none."""
    with suppress(OSError):
        names = sorted(path.name for path in islice(out.iterdir(), _MOST_FILES))
        return next((name for name in names if name.endswith(_SUITES)), "")
    return ""


def _is_output_folder(out: Path) -> bool:
    """Whether scoregate wrote reports there before, by the first bytes of its files; the rest may be damaged."""
    for name in (_RUN_RECORD, _RESULT):
        with suppress(OSError), (out / name).open("rb") as file:
            if file.read(len(_BEGINNING)) == _BEGINNING:
                return True
    return False
