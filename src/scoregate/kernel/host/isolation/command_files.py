"""The runner's command files, such as GITHUB_ENV: suites can't write to them, and they are checked afterwards."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from scoregate.kernel.types.records import record

_EVENT = "GITHUB_EVENT_PATH"  # later steps read it; suites may, too
_VARIABLES = (_EVENT, "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
_MOST_BYTES = 64 << 20


@record
class _File:
    """A command file as it was before suites ran, with an open handle."""

    variable: str
    path: Path
    handle: int
    mode: int
    content: bytes


class CommandFiles:
    """The command files of this step.

    Args:
        environ: the host's environment, which names them.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        paths = {name: Path(path) for name in _VARIABLES if (path := environ.get(name))}
        self._files = [file for name, path in paths.items() if (file := _open_file(name, path)) is not None]
        self._folders = {path: path.stat().st_mode for path in {file.path.parent for file in self._files}}

    def protect(self) -> None:
        """Remove the rights of all users but the runner, who owns them. A mode holds for every path of a file."""
        for file in self._files:
            with contextlib.suppress(OSError):
                os.fchmod(file.handle, file.mode & (0o755 if file.variable == _EVENT else 0o700))
        for folder, mode in self._folders.items():
            if not mode & stat.S_ISVTX:  # with the sticky bit, users can't rename each other's files
                with contextlib.suppress(OSError):
                    folder.chmod(stat.S_IMODE(mode) & ~0o022)

    def discard(self) -> Iterator[str]:
        """Restore files that were changed while suites ran; yields a notice for each one.

        Raises:
            OSError: a file can't be written.
        """
        for file in self._files:
            try:
                is_replaced = not os.path.samestat(os.lstat(file.path), os.fstat(file.handle))
            except OSError:
                is_replaced = True
            if not is_replaced and _content(file.handle) == file.content:
                continue
            # Through the handle: the path may lead to a file of a suite by now.
            os.ftruncate(file.handle, 0)
            os.pwrite(file.handle, file.content, 0)
            if is_replaced:
                _recreate(file)
            yield f"something was written to the runner's file {file.variable} while suites ran; it was discarded"

    def release(self) -> None:
        """Restore the rights and close the handles."""
        for file in self._files:
            with contextlib.suppress(OSError):
                os.fchmod(file.handle, file.mode)
            os.close(file.handle)
        for folder, mode in self._folders.items():
            with contextlib.suppress(OSError):
                folder.chmod(stat.S_IMODE(mode))


def _open_file(variable: str, path: Path) -> _File | None:
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        mode = os.fstat(handle).st_mode
        if stat.S_ISREG(mode):
            return _File(variable, path, handle, stat.S_IMODE(mode), _content(handle))
        os.close(handle)
    return None


def _content(handle: int) -> bytes:
    return os.pread(handle, _MOST_BYTES, 0)


def _recreate(file: _File) -> None:
    """Create the file again, because another file, a link or nothing is at its path now."""
    owner = os.fstat(file.handle)
    # Written next to it and renamed: readers see the whole file, and no link at its path is followed.
    partial = file.path.with_name(f".{file.path.name}.scoregate")
    with contextlib.suppress(FileNotFoundError):
        partial.unlink()
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as copy:
        copy.write(file.content)
        os.fchown(handle, owner.st_uid, owner.st_gid)
        os.fchmod(handle, file.mode)
    partial.replace(file.path)
