"""Result files that a command may have appended to: results of earlier runs would count as its own."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path

from scoregate.kernel.types.records import record

_MOST_BYTES = 16 * 1024 * 1024


@record
class EarlierContents:
    """What files held before a command: their size and the digest of their bytes."""

    files: Mapping[Path, tuple[int, bytes]]

    @classmethod
    def read(cls, paths: Iterable[Path]) -> EarlierContents:
        """Read files of up to 16 MB; others are left out."""
        known = ((path, _read_start(path, _MOST_BYTES + 1)) for path in paths)
        return cls({path: (len(data), _digest(data)) for path, data in known if 0 < len(data) <= _MOST_BYTES})

    def describe_appended(self, paths: Iterable[Path]) -> Iterator[str]:
        """A notice for each file that begins with everything that it held before, and holds more now."""
        for path in paths:
            size, digest = self.files.get(path, (0, b""))
            data = _read_start(path, size + 1) if size else b""
            if len(data) > size > 0 and _digest(data[:size]) == digest:
                yield (
                    f"{path.name!r:.300} begins with everything that it held before the command. If the command "
                    "appends to the file, results of earlier runs count, too: remove it before."
                )


def _digest(data: bytes) -> bytes:
    return blake2b(data).digest()


def _read_start(path: Path, size: int) -> bytes:
    """So many bytes, or fewer; none of what is no regular file."""
    try:
        # O_NONBLOCK: a pipe that the command left in place of its file would block the host.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return b""
    with os.fdopen(handle, "rb") as file:
        return file.read(size)
