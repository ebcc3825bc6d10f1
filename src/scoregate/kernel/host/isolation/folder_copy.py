"""A private copy of a folder in the workspace: suites could replace the folder, or a file in it, by a link."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scoregate.errors import UsageError
from scoregate.kernel.host.isolation.shared_tree import open_entry

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class FolderCopy:
    """The files of `folder` whose names end with `suffix`, copied to a folder of the host.

    Args:
        folder: a folder in the workspace; it may be missing.
        workspace: the workspace.
        path: the folder of the copy, which suites can't reach; it is created.
        suffix: the end of the names of the files. Other files, links and folders are left out.
    """

    def __init__(self, folder: Path, workspace: Path, path: Path, *, suffix: str) -> None:
        self.path = path
        self._folder, self._workspace, self._suffix = folder, workspace, suffix
        path.mkdir(mode=0o700)

    def load(self) -> None:
        """Copy the files of the folder.

        Raises:
            UsageError: the path of the folder contains a link, or a file can't be copied.
        """
        try:
            with self._open_folder() as folder:
                for name in sorted(os.listdir(folder)):  # noqa: PTH208
                    # A link or a pipe with such a name is not copied.
                    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    if name.endswith(self._suffix) and stat.S_ISREG(status.st_mode):
                        with (
                            open_entry(folder, name) as handle,
                            os.fdopen(handle, "rb", closefd=False) as source,
                            (self.path / name).open("wb") as target,
                        ):
                            shutil.copyfileobj(source, target)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._describe("read", error) from None

    def store(self) -> None:
        """Write the copies into the folder, as files of the workspace's owner. No link is followed.

        Raises:
            UsageError: the path of the folder contains a link, or a file can't be written.
        """
        names = sorted(path.name for path in self.path.iterdir() if path.name.endswith(self._suffix))
        if not names:
            return
        owner = self._workspace.stat()
        try:
            with self._open_folder(owner) as folder:
                for name in names:
                    self._store_file(name, folder, owner)
        except OSError as error:
            raise self._describe("written", error) from None

    def _store_file(self, name: str, folder: int, owner: os.stat_result) -> None:
        partial = f".{name}.{secrets.token_hex(4)}"
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
        try:
            with os.fdopen(handle, "wb") as target, (self.path / name).open("rb") as source:
                shutil.copyfileobj(source, target)
                os.fchown(target.fileno(), owner.st_uid, owner.st_gid)
            os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial, dir_fd=folder)
            raise

    @contextmanager
    def _open_folder(self, owner: os.stat_result | None = None) -> Iterator[int]:
        """Open the folder without following a link below the workspace; with an owner, it is created if missing."""
        handle = os.open(self._workspace, os.O_RDONLY | os.O_DIRECTORY)
        try:
            # One part at a time, since O_NOFOLLOW only holds for the last part of a path.
            for part in self._folder.relative_to(self._workspace).parts:
                if owner is not None:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, dir_fd=handle)
                        os.chown(part, owner.st_uid, owner.st_gid, dir_fd=handle, follow_symlinks=False)
                inner = os.open(part, _FOLDER, dir_fd=handle)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)

    def _describe(self, verb: str, error: OSError) -> UsageError:
        return UsageError(
            f"{self._folder} can't be {verb}: {error.strerror}", advice="Name a folder that has no link in its path."
        )
