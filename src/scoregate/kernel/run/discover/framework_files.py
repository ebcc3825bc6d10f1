"""The files of a project in which evals of other frameworks are searched, and the folders that commands run in."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from scoregate.kernel.run.discover.files import is_vendored, open_nonblocking

_MAX_BYTES = 1024 * 1024
_MOST_ARGUMENTS = 5


@dataclass(slots=True)
class SourceFiles:
    """The files of a project, without installed packages and names that no shell should see.

    Args:
        root: the project.
        names: its files, relative to the root.
        python_with_words: the Python files that contain a word of a framework; None if that is unknown.
    """

    root: Path
    names: tuple[str, ...]
    python_with_words: frozenset[str] | None = None
    _known: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        # A name that begins with a dash would be an option of the command that gets it.
        plain = (name for name in self.names if name.isprintable() and not name.startswith("-"))
        self.names = tuple(sorted(name for name in plain if not is_vendored(name)))
        self._known = frozenset(self.names)

    def read(self, name: str) -> bytes:
        """The content of a file; empty if it is too large to be an eval, or can't be read."""
        try:
            with open(self.root / name, "rb", opener=open_nonblocking) as file:
                is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
                content = file.read(_MAX_BYTES + 1) if is_file else b""
        except OSError:
            return b""
        return content if len(content) <= _MAX_BYTES else b""

    def nearest(self, name: str, *markers: str) -> str:
        """The innermost folder around a file that has one of these files; the root if none has."""
        for folder in PurePosixPath(name).parents:
            if any(str(folder / marker) in self._known for marker in markers):
                return str(folder)
        return os.curdir


def folder_of(name: str) -> str:
    """The folder of a file; `.` for the root."""
    return name.rpartition("/")[0] or os.curdir


def relative(name: str, folder: str) -> str:
    """A file or folder as seen from another folder; never an option of a command."""
    path = PurePosixPath(os.path.relpath(name, folder)).as_posix()
    return f"./{path}" if path.startswith("-") else path


def by_folder(files: SourceFiles, names: Iterable[str], *markers: str) -> dict[str, list[str]]:
    """Files by the folder of their project, which has one of the marker files; relative to that folder."""
    projects: dict[str, list[str]] = {}
    for name in names:
        folder = files.nearest(name, *markers)
        projects.setdefault(folder, []).append(relative(name, folder))
    return projects


def command_name(framework: str, folder: str) -> str:
    """A name for reports, which differs between the projects of a repository."""
    return framework if folder == os.curdir else f"{framework} in {folder}"


def as_arguments(names: Sequence[str]) -> tuple[str, ...]:
    """The names, or their folders if there are many."""
    if len(names) <= _MOST_ARGUMENTS:
        return tuple(names)
    return tuple(dict.fromkeys(folder_of(name) for name in names))
