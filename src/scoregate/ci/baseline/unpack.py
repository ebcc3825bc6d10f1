"""Take a run out of a zip that anybody may have made: only its own files, and never more than a limit."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import IO

from scoregate.errors import RecordError

MOST_ENTRIES = 1_000
MOST_BYTES = 1 << 30
_WANTED = re.compile(r"(?:.*/)?(?P<path>run/(?:extra-\d+/)?(?:run\.json|cases\.jsonl\.gz))|"
                     r"(?P<plain>(?:extra-\d+/)?(?:run\.json|cases\.jsonl\.gz))")  # fmt: skip
_CHUNK = 1 << 20


def unpack(archive: IO[bytes], folder: Path, *, most_bytes: int = MOST_BYTES) -> None:
    """Write the files of the run that a zip holds, at its top or in a folder `run`, into `folder`.

    Everything else in it is passed over; where a file goes is our choice, not the zip's.

    Raises:
        RecordError: it is no zip, holds no run, or too much.
    """
    try:
        with zipfile.ZipFile(archive) as found:
            _check(found.infolist(), most_bytes)
            left = most_bytes
            for member in found.infolist():
                if (name := _name(member)) is not None:
                    left -= _copy(found, member, folder / name, left)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise RecordError(f"the stored run cannot be unpacked: {error}") from None
    if not (folder / "run.json").is_file():
        raise RecordError("the stored run cannot be unpacked: it holds no run.json")


def _check(members: list[zipfile.ZipInfo], most_bytes: int) -> None:
    if len(members) > MOST_ENTRIES:
        raise RecordError(f"the stored run cannot be unpacked: more than {MOST_ENTRIES:,} files")
    if (size := sum(member.file_size for member in members if _name(member))) > most_bytes:
        raise RecordError(f"the stored run cannot be unpacked: {size:,} bytes are more than {most_bytes:,}")


def _name(member: zipfile.ZipInfo) -> str | None:
    """Where a file of the run goes; None for anything else."""
    found = _WANTED.fullmatch(member.filename)
    if found is None:
        return None
    return (found["path"] or "").removeprefix("run/") or found["plain"]


def _copy(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, left: int) -> int:
    """The bytes written; what a member says of its size is not believed."""
    written = 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, target.open("wb") as file:
        while chunk := source.read(_CHUNK):
            if (written := written + len(chunk)) > left:
                raise RecordError("the stored run cannot be unpacked: it is larger than it says")
            file.write(chunk)
    return written
