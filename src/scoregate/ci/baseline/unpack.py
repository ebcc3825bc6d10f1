"""Take a run out of a zip that anybody may have made: only its own files, and never more than a bound."""

from __future__ import annotations

import gzip
import re
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from scoregate.ci.archive import CASES_FILE, IN_PROGRESS, RUN_FILE, latest_run, read_run
from scoregate.ci.archive.marker import MARKER_FILE
from scoregate.core.run import Run
from scoregate.errors import RecordError

_FILE = r"(?P<extra>extra-\d{1,2}/)?(?:run\.json|cases\.jsonl\.gz)"
_WANTED = re.compile(rf"(?:(?:.*/)?run/)?(?P<path>{_FILE})")
_UNFINISHED = re.compile(
    rf"(?:(?:.*/)?run/)?(?P<path>(?:{IN_PROGRESS}[0-9a-f]{{8}}/)?{_FILE}|{re.escape(MARKER_FILE)})"
)
_CHUNK = 1 << 20
_LARGEST_DIRECTORY = 4 << 20
_END, _END_SIZE, _FURTHEST_END = b"PK\5\6", 22, 22 + (1 << 16)
_LARGE_LOCATOR, _LOCATOR_SIZE = b"PK\6\7", 20
_ZIP_ERRORS = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, zlib.error)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a stored run may be: bytes of the zip, of its files, of `run.json`, of the cases unpacked; cases.

    `extras`: whether more trials of some cases, kept beside it, are wanted at all.
    """

    packed: int
    files: int
    head: int
    inflated: int
    cases: int
    extras: bool = True


OWN_BOUNDS = Bounds(packed=512 << 20, files=1 << 30, head=256 << 20, inflated=16 << 30, cases=10_000_000)
UNTRUSTED_BOUNDS = Bounds(
    packed=64 << 20, files=128 << 20, head=4 << 20, inflated=512 << 20, cases=100_000, extras=False
)


def unpack(archive: IO[bytes], folder: Path, bounds: Bounds = OWN_BOUNDS, *, unfinished: bool = False) -> None:
    """Write the files of the run that a zip holds, at its top or in a folder `run`, into `folder`.

    Everything else in it is passed over; where a file goes is our choice, not the zip's.

    Args:
        unfinished: whether what a killed process left is wanted too.

    Raises:
        RecordError: it is no zip, holds no run, or too much.
    """
    _check_directory(archive)
    try:
        with zipfile.ZipFile(archive) as found:
            left = bounds.files
            for member in found.infolist():
                wanted = (_UNFINISHED if unfinished else _WANTED).fullmatch(member.filename)
                if wanted is not None and (bounds.extras or not wanted["extra"]):
                    left -= _copy(found, member, folder / wanted["path"], left=left)
    except _ZIP_ERRORS as error:
        raise _unpack_error(str(error) or type(error).__name__) from None
    if not any(folder.rglob(RUN_FILE) if unfinished else folder.glob(RUN_FILE)):
        raise _unpack_error(f"it holds no {RUN_FILE}")
    for path in folder.rglob("*"):
        _check_file(path, bounds)


def unpack_run(archive: IO[bytes], bounds: Bounds = OWN_BOUNDS, *, unfinished: bool = False) -> Run:
    """The run that a zip holds; its cases stay readable, though its files are gone from their folder.

    With `unfinished`, the last run that it holds, also if its process was killed.

    Raises:
        RecordError: as for `unpack`, or the run cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="scoregate-stored-") as folder:
        unpack(archive, Path(folder), bounds, unfinished=unfinished)
        try:
            return read_run(latest_run(Path(folder)) if unfinished else Path(folder))
        except RecordError as error:
            raise RecordError(error.message.replace(f"{folder}/", "its "), advice=error.advice) from None


def _check_directory(archive: IO[bytes]) -> None:
    """Refuse a directory of millions of entries before it is read: it comes into memory as a whole."""
    size = archive.seek(0, 2)
    archive.seek(max(0, size - _FURTHEST_END - _LOCATOR_SIZE))
    tail = archive.read()
    archive.seek(0)
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_SIZE:
        raise _unpack_error(f"it is not a zip file ({size:,} bytes)")
    is_large = tail[max(0, at - _LOCATOR_SIZE) : at].startswith(_LARGE_LOCATOR)
    if is_large or int.from_bytes(tail[at + 12 : at + 16], "little") > _LARGEST_DIRECTORY:
        raise _unpack_error("it holds too many files")


def _unpack_error(why: str) -> RecordError:
    return RecordError(f"the stored run cannot be unpacked: {why}")


def _copy(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, *, left: int) -> int:
    """The bytes written; what a member says of its own size is not believed."""
    written = 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, target.open("wb") as file:
        while chunk := source.read(_CHUNK):
            if (written := written + len(chunk)) > left:
                raise _unpack_error("it is too large")
            file.write(chunk)
    return written


def _check_file(path: Path, bounds: Bounds) -> None:
    if path.name == RUN_FILE and path.stat().st_size > bounds.head:
        raise _unpack_error(f"its {RUN_FILE} is too large")
    if path.name == CASES_FILE:
        _check_cases(path, bounds)


def _check_cases(path: Path, bounds: Bounds) -> None:
    size = cases = 0
    try:
        with gzip.open(path) as file:
            while chunk := file.read(_CHUNK):
                size, cases = size + len(chunk), cases + chunk.count(b"\n")
                if size > bounds.inflated or cases > bounds.cases:
                    raise _unpack_error(f"its {CASES_FILE} holds too much")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return  # The reader of the file reports the damage, and keeps the rest.
