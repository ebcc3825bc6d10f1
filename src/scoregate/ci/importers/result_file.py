"""A result file as it is handed to whoever reads its format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO

from scoregate.errors import ImportFailed

MAX_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ResultFile:
    """An open file, and how it is called. `alone`: no other was named with it, from which ids would have to differ."""

    name: str
    file: BinaryIO
    alone: bool = True

    @property
    def stem(self) -> str:
        """Its name without folders and ending."""
        return PurePath(self.name).name.split(".")[0] or "results"

    def read(self) -> bytes:
        """All of it.

        Raises:
            ImportFailed: it is too large.
        """
        self.file.seek(0)
        data = self.file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ImportFailed(f"it is larger than {MAX_BYTES:,} bytes")
        return data
