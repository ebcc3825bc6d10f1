"""Zip archives from elsewhere: their members, one at a time, none larger than it may be."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from scoregate.errors import ImportFailed, MissingExtra

MAX_MEMBER = 64 * 1024 * 1024
MAX_WHOLE = 4 * 1024 * 1024 * 1024
_MOST = 200_000

try:
    # Logs of inspect_ai are packed with Zstandard, which the standard library reads from 3.14 on.
    if sys.version_info >= (3, 14):
        import zipfile
    else:
        from backports.zstd import zipfile
except ModuleNotFoundError:
    raise MissingExtra(
        "archives packed with Zstandard cannot be read: backports.zstd is not installed",
        advice="Install it: pip install 'scoregate[cli]'",
    ) from None


@dataclass(slots=True)
class Archive:
    """A zip file. What is unpacked of it, and of each member, is bounded."""

    zip: zipfile.ZipFile
    _unpacked: int = field(default=0)

    def names(self) -> list[str]:
        """The names of its members, each once."""
        return list(dict.fromkeys(self.zip.namelist()))

    def read(self, name: str) -> bytes:
        """One member.

        Raises:
            ImportFailed: it is too large, encrypted or damaged.
        """
        try:
            with self.zip.open(name) as member:
                data = member.read(MAX_MEMBER + 1)
        except _DAMAGED as error:
            raise ImportFailed(f"its member {name[:200]!r} cannot be unpacked: {error}") from None
        self._unpacked += len(data)
        if len(data) > MAX_MEMBER or self._unpacked > MAX_WHOLE:
            raise ImportFailed(f"its member {name[:200]!r} is too large")
        return data


def _damaged() -> tuple[type[Exception], ...]:
    import lzma
    import struct
    import zlib

    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdError
    else:
        from backports.zstd import ZstdError
    kinds = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, ZstdError)
    return (*kinds, EOFError, NotImplementedError, RuntimeError, ValueError, KeyError, OSError)


_DAMAGED = _damaged()


def is_zip(file: BinaryIO) -> bool:
    """Whether it starts as one does."""
    file.seek(0)
    return file.read(4) == b"PK\x03\x04"


@contextmanager
def opened(file: BinaryIO) -> Iterator[Archive]:
    """The archive in a file.

    Raises:
        ImportFailed: it is none that can be read.
    """
    try:
        archive = zipfile.ZipFile(file)
    except _DAMAGED as error:
        raise ImportFailed(f"it starts as a zip and is none: {error}") from None
    with archive:
        if len(archive.filelist) > _MOST:
            raise ImportFailed(f"it has more than {_MOST:,} members")
        yield Archive(archive)
