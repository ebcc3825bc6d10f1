"""A result file as it is handed to whoever reads its format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO

from scoregate.ci.importers.trials import bounded_name
from scoregate.errors import ImportFailed

MAX_BYTES = 512 * 1024 * 1024
# A name with a date is made anew for every run.
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{8}")


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

    def named(self, suite: str) -> str:
        """The id of a suite of the file: among several files with the file's name, unless the next run has another."""
        path = PurePath(self.name)
        place = self.stem if path.is_absolute() else str(path.with_name(self.stem))
        if self.alone or _DATE.search(place):
            return suite
        return bounded_name(place) if suite == self.stem else f"{bounded_name(place)} / {suite}"

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
