"""The folder of the run and its reports, kept open: suites can rename folders in the workspace, but not a handle."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from scoregate.errors import UsageError
from scoregate.kernel.host.isolation.shared_tree import open_entry, remove_tree, walk

_KEPT = "run"


class OutFolder:
    """The folder `path`. It and everything in it belong to root until this is closed.

    Suites can rename it, like everything in the workspace. The path `open_path` leads to it, whatever its name is.

    Raises:
        UsageError: the path contains a link, or the folder can't be created.
    """

    def __init__(self, path: Path, workspace: Path) -> None:
        self.path = path
        try:
            self._handle = _open_folder(path, workspace)
        except OSError as error:
            raise UsageError(
                f"reports can't be written to {path}: {error.strerror}",
                advice="Name a folder with --out that is not a link and has no link in its path.",
            ) from None
        # Follows the handle, so a folder that a suite renames is still found.
        self.open_path = Path(f"/proc/{os.getpid()}/fd/{self._handle}")
        self._own()

    def _own(self) -> None:
        """Make root the owner of all entries. Links, and all that is neither a file nor a folder, are deleted."""
        for folder, name, status in walk(self.open_path.resolve()):
            kind = stat.S_IFMT(status.st_mode)
            # A hard link may be a file from elsewhere, whose owner must not change.
            if kind not in (stat.S_IFREG, stat.S_IFDIR) or (kind == stat.S_IFREG and status.st_nlink > 1):
                os.unlink(name, dir_fd=folder)
                continue
            with open_entry(folder, name) as handle:
                os.fchown(handle, 0, 0)
                os.fchmod(handle, 0o755 if kind == stat.S_IFDIR else 0o644)
        # A user that may only rename a folder can't delete it if it is not empty.
        (self.open_path / _KEPT).mkdir(exist_ok=True)

    def put_back(self) -> str | None:
        """Move the folder back to its path, and delete what is there now; returns a notice if it had been moved."""
        with contextlib.suppress(OSError):
            if os.path.samestat(os.lstat(self.path), os.fstat(self._handle)):
                return None
        current_path = self.open_path.resolve()  # before its place is cleared, as the link follows the handle
        with contextlib.suppress(FileNotFoundError):
            if self.path.is_dir() and not self.path.is_symlink():
                remove_tree(self.path)
            else:
                self.path.unlink()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        current_path.rename(self.path)
        return f"a suite renamed the folder {self.path.name!r:.80}; it was put back, and what was in its place deleted"

    def close(self) -> None:
        """Close the handle."""
        os.close(self._handle)


def _open_folder(path: Path, workspace: Path) -> int:
    """Open the folder, and create it if it is missing. Below the workspace, no link is followed."""
    top = workspace if path.is_relative_to(workspace) else path.parent
    top.mkdir(parents=True, exist_ok=True)
    handle = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for part in path.relative_to(top).parts:
        parent = handle
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=parent)
            handle = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        finally:
            os.close(parent)
    return handle
