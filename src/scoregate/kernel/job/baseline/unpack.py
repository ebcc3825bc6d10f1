"""Unpack a run from an untrusted zip file: only the files of a run, and never more than the limits."""

from __future__ import annotations

import gzip
import re
import shutil
import tempfile
import weakref
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import IO

from scoregate.errors import RecordError
from scoregate.kernel.judge.archive import CASES_FILE, IN_PROGRESS, RUN_FILE, latest_run, read_run
from scoregate.kernel.judge.archive.marker import MARKER_FILE
from scoregate.kernel.judge.archive.media import FILE_NAME, MEDIA_FOLDER, MOST_ALL_BYTES, MOST_FILES, MediaFolder
from scoregate.kernel.judge.archive.reader import add_companions
from scoregate.kernel.types.media import MOST_BYTES
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Run

_EARLIER = r"(?:attempt|push)-(?:0[1-9]|10)(?:/again-[1-9])?|again-[1-9]|base-again"
_FOLDER = rf"(?:(?P<extra>extra-\d{{1,2}}|control)|(?P<earlier>{_EARLIER}))/"
_FILE = rf"(?:{_FOLDER})?(?:run\.json|cases\.jsonl\.gz)"
_FINISHED = re.compile(rf"(?:(?:.*/)?run/)?(?P<path>{_FILE})")
_UNFINISHED = re.compile(
    rf"(?:(?:.*/)?run/)?(?P<path>(?:{IN_PROGRESS}[0-9a-f]{{8}}/)?{_FILE}|{re.escape(MARKER_FILE)})"
)
_CASSETTE = re.compile(r"(?:(?:.*/)?run/)?cassettes/(?P<name>[A-Za-z0-9_-][A-Za-z0-9._-]{0,120}\.jsonl\.gz)")
_MEDIA = re.compile(rf"(?:(?:.*/)?run/)?(?P<path>(?:{IN_PROGRESS}[0-9a-f]{{8}}/)?{MEDIA_FOLDER}/{FILE_NAME.pattern})")
_CHUNK = 1 << 20
_LARGEST_DIRECTORY = 4 << 20
_END, _END_SIZE, _FURTHEST_END = b"PK\5\6", 22, 22 + (1 << 16)
_LARGE_LOCATOR, _LOCATOR_SIZE = b"PK\6\7", 20
# An encrypted member is a RuntimeError, and an unknown compression a NotImplementedError.
_ZIP_ERRORS = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, zlib.error)


@record
class ArchiveBounds:
    """The limits of a stored run.

    Args:
        packed: bytes of the zip file.
        files: bytes of all unpacked files.
        head: bytes of `run.json`.
        inflated: bytes of the cases of a run, decompressed.
        cases: the number of its cases.
        extras: whether the folders with extra trials of some cases are unpacked, too.
        media: bytes of images and audio; those over it are skipped.
        earlier: whether the copies of earlier attempts and pushes are unpacked, too.
    """

    packed: int
    files: int
    head: int
    inflated: int
    cases: int
    extras: bool = True
    media: int = MOST_ALL_BYTES
    earlier: bool = False


OWN_BOUNDS = ArchiveBounds(packed=768 << 20, files=1 << 30, head=256 << 20, inflated=16 << 30, cases=10_000_000)
ATTEMPT_BOUNDS = replace(OWN_BOUNDS, earlier=True)
UNTRUSTED_BOUNDS = ArchiveBounds(
    # The zip may have the images and audio of a run, which are not unpacked.
    packed=(64 << 20) + MOST_ALL_BYTES,
    files=128 << 20,
    head=4 << 20,
    inflated=512 << 20,
    cases=100_000,
    extras=False,
    media=0,
    earlier=True,
)


def unpack(archive: IO[bytes], folder: Path, bounds: ArchiveBounds = OWN_BOUNDS, *, unfinished: bool = False) -> None:
    """Write the run's files in a zip, at its top or in a folder `run`, into `folder`.

    Other files are skipped. A pattern decides the path of every file; paths in the zip can't lead anywhere else.

    Args:
        archive: the zip file.
        folder: an empty folder.
        bounds: the limits.
        unfinished: whether the files of a run whose process was killed are unpacked, too.

    Raises:
        RecordError: it is not a zip file, holds no run, or is over a limit.
    """
    _check_directory(archive)
    pattern = _UNFINISHED if unfinished else _FINISHED
    try:
        with zipfile.ZipFile(archive) as source:
            left = bounds.files
            for member in source.infolist():
                match = pattern.fullmatch(member.filename)
                if match is None or (match["extra"] and not bounds.extras) or (match["earlier"] and not bounds.earlier):
                    continue
                left -= _copy(source, member, folder / match["path"], left=left)
            _unpack_media(source, folder, bounds.media)
    except _ZIP_ERRORS as error:
        raise _unpack_error(str(error) or type(error).__name__) from None
    if not any(folder.rglob(RUN_FILE) if unfinished else folder.glob(RUN_FILE)):
        raise _unpack_error(f"it holds no {RUN_FILE}")
    for path in folder.rglob("*"):
        if path.name == RUN_FILE and path.stat().st_size > bounds.head:
            raise _unpack_error(f"its {RUN_FILE} is too large")
        if path.name == CASES_FILE:
            _check_cases(path, bounds)


def _unpack_media(source: zipfile.ZipFile, folder: Path, most: int) -> None:
    """Write images and audio up to a limit. They are checked against their digests when they are read."""
    left, number = most, 0
    for member in source.infolist():
        match = _MEDIA.fullmatch(member.filename) if left and number < MOST_FILES else None
        if match is not None and member.file_size <= min(left, MOST_BYTES):
            left -= _copy(source, member, folder / match["path"], left=left)
            number += 1


def unpack_cassettes(archive: IO[bytes], folder: Path, bounds: ArchiveBounds = OWN_BOUNDS) -> int:
    """Write the cassettes that a zip of a run holds into `folder`, and return their number.

    Args:
        archive: the zip file.
        folder: an empty folder.
        bounds: the limits.

    Raises:
        RecordError: it is not a zip file, or is over a limit.
    """
    _check_directory(archive)
    number = 0
    try:
        with zipfile.ZipFile(archive) as source:
            left = bounds.files
            for member in source.infolist():
                if (match := _CASSETTE.fullmatch(member.filename)) is not None:
                    left -= _copy(source, member, folder / match["name"], left=left)
                    number += 1
    except _ZIP_ERRORS as error:
        raise _unpack_error(str(error) or type(error).__name__) from None
    return number


def unpack_run(archive: IO[bytes], bounds: ArchiveBounds = OWN_BOUNDS, *, unfinished: bool = False) -> Run:
    """The run in a zip. Its cases, images and audio stay readable although its temporary folder is deleted.

    Args:
        archive: the zip file.
        bounds: the limits.
        unfinished: return the last run in it, also if its process was killed.

    Raises:
        RecordError: as for `unpack`, or the run can't be read.
    """
    with tempfile.TemporaryDirectory(prefix="scoregate-stored-") as folder:
        unpack(archive, Path(folder), bounds, unfinished=unfinished)
        try:
            place = latest_run(Path(folder)) if unfinished else Path(folder)
            run = read_run(place)
            if place != Path(folder):  # its process was killed; the copies of earlier runs are in the folder above
                run = add_companions(run, Path(folder))
        except RecordError as error:
            raise RecordError(error.message.replace(f"{folder}/", "its "), advice=error.advice) from None
        return _keep_media(run, place / MEDIA_FOLDER)


def _keep_media(run: Run, media: Path) -> Run:
    """The run, whose images and audio are in another temporary folder that is deleted with the run."""
    if not media.is_dir():
        return run
    kept = Path(tempfile.mkdtemp(prefix="scoregate-media-"))
    shutil.move(media, kept / MEDIA_FOLDER)
    folder = MediaFolder(kept / MEDIA_FOLDER)
    weakref.finalize(folder, shutil.rmtree, kept, ignore_errors=True)
    return replace(run, read_media=folder.read)


def _check_directory(archive: IO[bytes]) -> None:
    """Refuse a zip directory with millions of entries before it is read, because it is read into memory as a whole."""
    size = archive.seek(0, 2)
    archive.seek(max(0, size - _FURTHEST_END - _LOCATOR_SIZE))
    tail = archive.read()
    archive.seek(0)
    end = tail.rfind(_END)
    if end < 0 or len(tail) - end < _END_SIZE:
        raise _unpack_error(f"it is not a zip file ({size:,} bytes)")
    # Archives that need ZIP64 have more entries, or larger ones, than a run.
    is_large = tail[max(0, end - _LOCATOR_SIZE) : end].startswith(_LARGE_LOCATOR)
    if is_large or int.from_bytes(tail[end + 12 : end + 16], "little") > _LARGEST_DIRECTORY:
        raise _unpack_error("it holds too many files")


def _unpack_error(why: str) -> RecordError:
    return RecordError(f"the stored run can't be unpacked: {why}")


def _copy(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, *, left: int) -> int:
    """Copy a member and return the number of bytes; the size in the zip's directory is untrusted and not used."""
    written = 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, target.open("wb") as file:
        while chunk := source.read(_CHUNK):
            if (written := written + len(chunk)) > left:
                raise _unpack_error("it is too large")
            file.write(chunk)
    return written


def _check_cases(path: Path, bounds: ArchiveBounds) -> None:
    size = cases = 0
    try:
        with gzip.open(path) as file:
            while chunk := file.read(_CHUNK):
                size, cases = size + len(chunk), cases + chunk.count(b"\n")
                if size > bounds.inflated or cases > bounds.cases:
                    raise _unpack_error(f"its {CASES_FILE} holds too much")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return  # The reader of the file reports the damage, and keeps the rest.
