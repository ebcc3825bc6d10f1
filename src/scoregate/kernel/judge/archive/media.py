"""The images and audio of a run: files named by their digest, in the folder `media` of the run."""

from __future__ import annotations

import os
import re
import shutil
import weakref
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from scoregate.kernel.judge.archive.folder import open_nofollow
from scoregate.kernel.types.media import (
    MOST_BYTES,
    TYPES,
    MediaFile,
    ReadMedia,
    describe_number,
    find_type,
    format_size,
    list_digests,
)

MEDIA_FOLDER = "media"
MOST_FILES = 10_000
MOST_ALL_BYTES = 200_000_000
FILE_NAME = re.compile(rf"(?P<digest>[0-9a-f]{{64}})\.(?:{'|'.join(TYPES.values())})")


class MediaFolder:
    """Reads the files of a folder, which anybody may have written: each is checked against its digest.

    The folder stays open, so that it can be moved.
    """

    def __init__(self, path: Path) -> None:
        self._fd: int | None = None
        with suppress(OSError):
            self._fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            weakref.finalize(self, os.close, self._fd)

    def list_names(self) -> Iterator[str]:
        """The names of files that may be images or audio."""
        if self._fd is not None:
            with os.scandir(self._fd) as entries:
                yield from (each.name for each in entries if FILE_NAME.fullmatch(each.name))

    def read(self, digest: str) -> MediaFile | None:
        """The file with a digest; None if there is none, or it has another content or type."""
        return next((file for ending in TYPES.values() if (file := self.read_file(f"{digest}.{ending}"))), None)

    def read_file(self, name: str) -> MediaFile | None:
        """The file with a name; None if there is none, or it has another content or type."""
        match = FILE_NAME.fullmatch(name)
        if self._fd is None or match is None:
            return None
        fd = self._fd
        try:
            with open(name, "rb", opener=lambda path, flags: open_nofollow(path, flags, folder=fd)) as file:
                data = file.read(MOST_BYTES + 1)
        except OSError:
            return None
        kind = find_type(data)
        if kind is None or len(data) > MOST_BYTES or not name.endswith(f".{TYPES[kind]}"):
            return None
        return MediaFile(kind, data) if sha256(data).hexdigest() == match["digest"] else None


class MediaWriter:
    """Writes the images and audio of a run while it happens, and in the end keeps those that its cases refer to.

    Args:
        folder: the folder in which the run is written; its folder `media` is created with the first file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / MEDIA_FOLDER
        self._sources: list[ReadMedia] = []
        self._referenced: set[str] = set()
        self._written: dict[str, str] = {}
        self._size = self._dropped = 0

    def note_line(self, line: bytes) -> None:
        """Note the references in the line of a case."""
        self._referenced.update(list_digests(line))

    def add_source(self, read: ReadMedia | None) -> None:
        """Look for missing files there, too; None is skipped."""
        self._sources += [] if read is None else [read]

    def add(self, file: MediaFile) -> None:
        """Write a file, unless it is there. Over 200 MB, files are counted as missing.

        Raises:
            OSError: the disk is full, or can't be written to.
        """
        digest = sha256(file.data).hexdigest()
        if digest in self._written:
            return
        if len(self._written) >= MOST_FILES or self._size + len(file.data) > MOST_ALL_BYTES:
            self._dropped += 1
            return
        name = f"{digest}.{TYPES[file.type]}"
        self._folder.mkdir(exist_ok=True)
        (self._folder / name).write_bytes(file.data)
        self._written[digest] = name
        self._size += len(file.data)

    def finish(self) -> str:
        """Copy missing files from the sources, and delete those that no case refers to.

        Returns:
            A notice; empty if nothing is missing.

        Raises:
            OSError: the disk is full, or can't be written to.
        """
        for digest in sorted(self._referenced - self._written.keys()):
            file_of_digest = next((file for read in self._sources if (file := read(digest)) is not None), None)
            if file_of_digest is not None:
                self.add(file_of_digest)
        for digest in self._written.keys() - self._referenced:
            (self._folder / self._written.pop(digest)).unlink(missing_ok=True)
        missing = len(self._referenced - self._written.keys())
        if not missing:
            return ""
        limit = f"; the most are {MOST_FILES:,} with {format_size(MOST_ALL_BYTES)}" if self._dropped else ""
        return f"{describe_number(missing)} not kept{limit}: reports show only the type and the size"

    def replace_folder(self, folder: Path) -> MediaFolder:
        """Put the files into the folder of the run, instead of those of an earlier run."""
        place = folder / MEDIA_FOLDER
        if place.is_symlink():
            place.unlink()  # rmtree refuses links
        shutil.rmtree(place, ignore_errors=True)
        if self._folder.is_dir():
            self._folder.rename(place) if self._written else self._folder.rmdir()
        return MediaFolder(place)
