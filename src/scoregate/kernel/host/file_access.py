"""Read and create files in folders in which other processes, and the authors of a change, can place links."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe or a terminal must neither block the host nor become its terminal.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def create_file(path: Path, text: str, *, mode: int = 0o666) -> None:
    """Create a file.

    Raises:
        FileExistsError: something is there, even if it is a link to nothing.
    """
    with os.fdopen(os.open(path, _CREATE, mode), "w", encoding="utf-8") as file:
        file.write(text)


def read_project_file(path: Path, most_bytes: int, *, top: Path | None = None) -> bytes:
    """The first bytes of a file of a project. Links are followed inside of the project.

    Args:
        path: the file.
        most_bytes: how many are read.
        top: the folder of the project; None for the top of its repository, or the file's folder outside of one.

    Raises:
        FileNotFoundError: there is none.
        OSError: it is outside of the project, no regular file, or can't be read. `strerror` says why.
    """
    top = (find_repository(path.parent) if top is None else top).resolve()
    try:
        parts = path.resolve(strict=True).relative_to(top).parts
    except RuntimeError:  # before Python 3.13, for a link to itself
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
    except ValueError:
        raise OSError(errno.EPERM, "it is a link to a place outside of the project") from None
    # The folders are opened one by one: each may have been replaced by a link since.
    handle = os.open(top, _FOLDER)
    for number, part in enumerate(parts, 1):
        above = handle
        try:
            handle = os.open(part, _FILE if number == len(parts) else _FOLDER, dir_fd=above)
        finally:
            os.close(above)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file")
    with os.fdopen(handle, "rb") as file:
        return file.read(most_bytes)


def find_repository(folder: Path) -> Path:
    """The top of the repository that a folder is in; the folder outside of one."""
    folder = folder.absolute()
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
