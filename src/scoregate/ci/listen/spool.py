"""Bodies on disk until their suite has ended: memory keeps their places only."""

from __future__ import annotations

import errno
import os
import tempfile
from typing import BinaryIO

_SIZE_BYTES = 4
_FIRST_READ = 4096


class Spool:
    """A temporary file without a name, to which bodies are added and in which each is found by its place."""

    def __init__(self) -> None:
        self._file = _temporary()
        self._fd = self._file.fileno()
        self._end = 0

    def add(self, body: bytes) -> int:
        """Keep a body of less than 4 GB, and return its place.

        Raises:
            OSError: the disk is full.
        """
        record = len(body).to_bytes(_SIZE_BYTES, "big") + body
        place = self._end
        if os.pwrite(self._fd, record, place) != len(record):
            raise OSError(errno.ENOSPC, "the disk is full")
        self._end += len(record)
        return place

    def read(self, place: int) -> bytes:
        """The body at a place that `add` returned."""
        start = os.pread(self._fd, _FIRST_READ, place)
        size = int.from_bytes(start[:_SIZE_BYTES], "big")
        body = start[_SIZE_BYTES : _SIZE_BYTES + size]
        return body if len(body) == size else body + os.pread(self._fd, size - len(body), place + len(start))

    def close(self) -> None:
        """Give the room on disk back."""
        self._file.close()


def _temporary() -> BinaryIO:
    return tempfile.TemporaryFile(prefix="scoregate-", buffering=0)
