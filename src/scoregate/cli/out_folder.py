"""The folder that a run and its reports go to: of their own, and never over what somebody else has made."""

from __future__ import annotations

from pathlib import Path

from scoregate.ci.archive import RUN_FILE, RUN_FOLDER
from scoregate.ci.reporting import REPORTS
from scoregate.errors import UsageError

_ADVICE = "Name a folder of their own with --out, such as scoregate-out."
_RECORD = f"{RUN_FOLDER}/{RUN_FILE}"
_RESULT = REPORTS["json"][0]
_BEGINNING = b'{\n  "schema_version"'


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
