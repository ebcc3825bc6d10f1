"""The default store: a folder in the repository whose files git can compare and merge."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, BinaryIO

from scoregate.errors import ReadOnlyStore, StoreError
from scoregate.kernel.types.records import record
from scoregate.store.errors import conflict_message
from scoregate.store.kinds import Key, Kind, T
from scoregate.store.paths import collection_path, display_path, find_keys

_LOCK = ".lock"
_LOCK_TIMEOUT_S = 60.0
_POLL_S = 0.02
_PERMISSION_ERRNOS = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Create the folder and hold its lock. The operating system releases the lock if the process dies.

    Raises:
        StoreError: the operating system refuses the lock, or another process holds it for more than a minute.
    """
    with ExitStack() as stack:
        with wrap_os_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(open(folder / _LOCK, "ab", opener=_open_without_links))
            _lock(file)
        yield


def _open_without_links(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o644)


def _lock(file: IO[bytes]) -> None:
    """Lock an open file. Closing it releases the lock; the file stays, since others may wait for it."""
    import fcntl  # other systems than POSIX lack it

    end = time.monotonic() + _LOCK_TIMEOUT_S
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise StoreError(
                    f"{file.name} has been locked by another process for {_LOCK_TIMEOUT_S:g} seconds",
                    advice="End that process, or try again when it is done.",
                ) from None
        time.sleep(_POLL_S)


@contextmanager
def wrap_os_errors(path: Path) -> Iterator[None]:
    """Raise errors of the operating system as `StoreError`, with the path in the message."""
    try:
        yield
    except OSError as error:
        kind = ReadOnlyStore if error.errno in _PERMISSION_ERRNOS else StoreError
        raise kind(f"{path}: {error.strerror or error}") from error


def check_inside(path: Path, folder: Path) -> Path:
    """The path itself, if no link on it leaves the folder.

    Raises:
        StoreError: a link leaves the folder.
    """
    if not path.resolve().is_relative_to(folder.resolve()):
        raise StoreError(f"{path} is a link to a place outside the store", advice="Put the file itself there.")
    return path


def replace_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a temporary file and move it to the path. Readers see the old file or the new one. Needs the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(".new")  # one name is enough, since the lock is held
    temporary.unlink(missing_ok=True)  # left by a process that was killed
    try:
        with temporary.open("xb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())  # else a power cut could leave an empty file under this name
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def extend_file(path: Path, pieces: Iterable[bytes], *, start: int) -> None:
    """Append to a file. Needs the lock. A reader may see the first part of the new bytes.

    Args:
        path: the file.
        pieces: the new bytes.
        start: the valid size of the file; bytes after it, left by a killed process, are overwritten.
    """
    with path.open("r+b") as file:
        file.truncate(start)
        file.seek(start)
        try:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(start)
            raise


VERSION = 1
_VERSION_FILE = "version"
# Git keeps the lines that two branches added. If both changed the same item, the reader reports it.
_GIT_FILES = {
    ".gitattributes": "*.jsonl text eol=lf merge=union\n",
    ".gitignore": ".*\n!.gitattributes\n!.gitignore\n",
}


def check_version(folder: Path) -> int:
    """The format version of a store; the version of this scoregate if there is no version file.

    Raises:
        StoreError: a newer scoregate wrote the store, or the version file is invalid.
    """
    path = folder / _VERSION_FILE
    try:
        text = path.read_bytes()[:1000]
    except FileNotFoundError:
        return VERSION
    if not text.strip().isdigit():
        problem = conflict_message(text) or f"must be a number, not {text.decode('utf-8', 'replace').strip()!r:.40}"
        raise StoreError(f"{path}:1: {problem}", advice=f"This version of scoregate writes {VERSION}.")
    if (version := int(text)) > VERSION:
        raise StoreError(
            f"{folder} was written by a newer scoregate: its version is {version}, this one reads up to {VERSION}",
            advice="Run: pip install --upgrade scoregate",
        )
    return version


def prepare_folder(folder: Path) -> None:
    """Write the version file and the files for git, where they are missing. Needs the lock."""
    if check_version(folder) != VERSION or not (folder / _VERSION_FILE).exists():
        replace_file(folder / _VERSION_FILE, [f"{VERSION}\n".encode()])
    for name, text in _GIT_FILES.items():
        if not (folder / name).exists():
            replace_file(folder / name, [text.encode()])


@record
class DirectoryStore:
    """A `Store` with one file for each collection, `folder/kind/key…`."""

    folder: Path

    def list_keys(self, kind: Kind[T]) -> Iterator[Key]:
        """As `Store.list_keys`; a file whose name is not a key is an error."""
        with wrap_os_errors(self.folder / kind.name):
            check_version(self.folder)
            keys = sorted(find_keys(self.folder, kind))
        yield from keys

    def read(self, kind: Kind[T], key: Key) -> Iterator[T]:
        """As `Store.read`."""
        path = collection_path(self.folder, kind, key)
        with wrap_os_errors(path):
            if file := _open_file(path, self.folder):
                with file:
                    yield from kind.layout.read(file, kind, origin=display_path(path))

    def stamp(self, kind: Kind[Any], key: Key) -> Hashable:
        """As `Store.stamp`: inode, time and size. Each write by scoregate creates a new inode."""
        path = collection_path(self.folder, kind, key)
        with wrap_os_errors(path):
            try:
                status = path.stat()
            except FileNotFoundError:
                return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def update(self, kind: Kind[T], key: Key, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """As `Store.update`."""
        with self.open_writer() as writer:
            writer.update(kind, key, change)

    def open(self, kind: Kind[Any], key: Key, file_name: str) -> BinaryIO | None:
        """As `Store.open`."""
        path = collection_path(self.folder, kind, key).with_name(file_name)
        with wrap_os_errors(path):
            return _open_file(path, self.folder)

    @contextmanager
    def open_writer(self) -> Iterator[DirectoryWriter]:
        """As `Store.open_writer`."""
        with lock_folder(self.folder):
            with wrap_os_errors(self.folder):
                prepare_folder(self.folder)
            yield DirectoryWriter(self)

    def location(self, kind: Kind[Any], key: Key, file_name: str = "") -> str:
        """The path, relative to the working directory if it is below it."""
        path = collection_path(self.folder, kind, key)
        return display_path(path.with_name(file_name) if file_name else path)


@record
class DirectoryWriter:
    """A `Writer` for a `DirectoryStore`."""

    store: DirectoryStore

    def update(self, kind: Kind[T], key: Key, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """As `Writer.update`."""
        path = collection_path(self.store.folder, kind, key)
        with wrap_os_errors(path):
            changed = change(self.store.read(kind, key))
            if kind.item_key is not None:
                by_key = {kind.item_key(item): item for item in changed}
                changed = [by_key[item_key] for item_key in sorted(by_key)]
            items = iter(changed)
            if (first := next(items, None)) is not None:
                self._put(path, kind, kind.layout.write(chain([first], items)))
                return
            # The collection first: without it, the extra files are ignored.
            for name in (path.name, *kind.extra_files):
                path.with_name(name).unlink(missing_ok=True)
            if kind.extra_files and path.parent.exists() and not any(path.parent.iterdir()):
                path.parent.rmdir()

    def replace(self, kind: Kind[Any], key: Key, file_name: str, *, pieces: Iterable[bytes]) -> None:
        """As `Writer.replace`."""
        path = collection_path(self.store.folder, kind, key).with_name(file_name)
        with wrap_os_errors(path):
            self._put(path, kind, pieces)

    def extend(self, kind: Kind[Any], key: Key, file_name: str, *, pieces: Iterable[bytes], start: int) -> None:
        """As `Writer.extend`."""
        path = collection_path(self.store.folder, kind, key).with_name(file_name)
        with wrap_os_errors(path):
            extend_file(check_inside(path, self.store.folder), pieces, start=start)

    def _put(self, path: Path, kind: Kind[Any], pieces: Iterable[bytes]) -> None:
        replace_file(check_inside(path, self.store.folder), pieces)
        for name, text in ((".gitattributes", kind.attributes), (".gitignore", "*\n" if kind.ignored else "")):
            path = self.store.folder / kind.name / name
            if text and not path.exists():
                replace_file(path, [text.encode()])


def _open_file(path: Path, folder: Path) -> BinaryIO | None:
    check_version(folder)
    try:
        return check_inside(path, folder).open("rb")
    except FileNotFoundError:
        return None
