"""Where the cases of a skill are, and the files next to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from scoregate.kernel.types.records import record

MOST_FILES = 10_000
_MOST_BYTES = 5_000_000


@record
class CasesPlace:
    """Where a file of cases is. Paths are relative to the project, in the form of POSIX.

    Attributes:
        root: the project.
        file: the file of the cases.
        skill: the folder of the skill.
    """

    root: Path
    file: str
    skill: str

    @property
    def folder(self) -> str:
        """The folder of the file."""
        return str(PurePosixPath(self.file).parent)

    def join(self, *parts: str) -> str:
        """A path below the folder of the file, relative to the project."""
        return os.path.normpath(PurePosixPath(self.folder, *parts))

    def find_source(self, folder: str, name: str) -> str | None:
        """The place of a file, relative to the project; None if it is neither in the skill nor next to the cases.

        Args:
            folder: what the name is relative to.
            name: the name, which may have `..`.
        """
        if not name or set(name) & {"\0", "\\"} or PurePosixPath(name).is_absolute():
            return None
        path = os.path.normpath(PurePosixPath(folder, name))
        return path if any(_is_below(path, each) for each in (self.skill, self.folder)) else None

    def find_files(self, glob: str) -> Iterator[str]:
        """The files below the folder of the file that a glob matches, sorted.

        Raises:
            ValueError: there are too many, or the glob is invalid.
        """
        top = self.root / self.folder
        # The one more shows that there are too many.
        files = sorted(islice((each for each in top.glob(glob) if each.is_file()), MOST_FILES + 1))
        if len(files) > MOST_FILES:
            raise ValueError(f"the pattern matches more than {MOST_FILES:,} files")
        yield from (self.join(path.relative_to(top).as_posix()) for path in files)

    def read(self, name: str) -> str:
        """The text of a file of the project.

        Raises:
            ValueError: it can't be read, is not a regular file in UTF-8, is too large, or leads out of the project.
        """
        path = self.root / name
        try:
            if not path.resolve().is_relative_to(self.root.resolve()):
                raise ValueError("it is a link that leads out of the project")
            if not path.is_file():
                raise ValueError("it is not a regular file" if os.path.lexists(path) else "there is no such file")
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
        except OSError as error:
            raise ValueError(f"it can't be read: {error.strerror}") from None
        if len(data) > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES:,} bytes")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"it is not UTF-8: {error.reason} at byte {error.start}") from None


def _is_below(path: str, folder: str) -> bool:
    if folder == os.curdir:
        return not path.startswith(os.pardir)
    return path.startswith(f"{folder}/")
