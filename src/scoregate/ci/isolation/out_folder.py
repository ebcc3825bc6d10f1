"""The folder of the run and its reports, held open: in a workspace that suites can write to, names prove nothing."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from scoregate.ci.isolation.trees import open_entry, remove_tree, walk
from scoregate.errors import UsageError

_KEPT = "run"


class OutFolder:
    """The folder `path`, which belongs to root as long as this is open, with all that is in it.

    Suites may rename it, as they may whatever is in the workspace. `held` leads to it whatever its name is.

    Raises:
        UsageError: the path leads over a link, or the folder cannot be made.
    """

    def __init__(self, path: Path, workspace: Path) -> None:
        self.path = path
        try:
            self._handle = _open_folder(path, workspace)
        except OSError as error:
            raise UsageError(
                f"reports cannot go to {path}: {error.strerror}",
                advice="Name a folder with --out that is no link, on no path with a link.",
            ) from None
        self.held = Path(f"/proc/{os.getpid()}/fd/{self._handle}")
        self._own()

    def _own(self) -> None:
        """Take the folder from its owner. Links and whatever is neither a file nor a folder go."""
        for folder, name, found in walk(self.held.resolve()):
            kind = stat.S_IFMT(found.st_mode)
            if kind not in (stat.S_IFREG, stat.S_IFDIR) or (kind == stat.S_IFREG and found.st_nlink > 1):
                os.unlink(name, dir_fd=folder)
                continue
            with open_entry(folder, name) as handle:
                os.fchown(handle, 0, 0)
                os.fchmod(handle, 0o755 if kind == stat.S_IFDIR else 0o644)
        # What is not empty cannot be deleted by who may only rename it.
        (self.held / _KEPT).mkdir(exist_ok=True)

    def put_back(self) -> str | None:
        """Give the folder its name again, whatever has it now; returns a notice where it had lost it."""
        with contextlib.suppress(OSError):
            if os.path.samestat(os.lstat(self.path), os.fstat(self._handle)):
                return None
        now = self.held.resolve()
        with contextlib.suppress(FileNotFoundError):
            if self.path.is_dir() and not self.path.is_symlink():
                remove_tree(self.path)
            else:
                self.path.unlink()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        now.rename(self.path)
        return f"a suite renamed the folder {self.path.name!r:.80}; it was put back, and what was in its place deleted"

    def close(self) -> None:
        """Let go of it."""
        os.close(self._handle)


def _open_folder(path: Path, workspace: Path) -> int:
    """Open the folder, made where it is not there; below the workspace, over no link."""
    top = workspace if path.is_relative_to(workspace) else path.parent
    top.mkdir(parents=True, exist_ok=True)
    handle = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for part in path.relative_to(top).parts:
        above = handle
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=above)
            handle = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
        finally:
            os.close(above)
    return handle
