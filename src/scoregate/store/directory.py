"""The default store: a folder in the repository, made for git."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from scoregate.errors import ReadOnlyStore, StoreError
from scoregate.store.errors import marker
from scoregate.store.kinds import Key, Kind, T
from scoregate.store.paths import path_of, shelves_in, shown

if TYPE_CHECKING:
    from filelock import FileLock


_LOCK = ".lock"
_PATIENCE_S = 60.0
_POLL_S = 0.02
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder and hold its lock, which the system takes back from a process that dies.

    Raises:
        StoreError: `filelock` is not installed, the system refuses it, or somebody holds the lock for a minute.
    """
    lock = _acquired(folder)
    try:
        yield
    finally:
        lock.release()


def _acquired(folder: Path) -> FileLock:
    try:
        from filelock import FileLock, Timeout
    except ImportError:
        raise ReadOnlyStore(
            f"{folder} cannot be written: the package filelock is not installed",
            advice="Run: pip install 'scoregate[judges]'",
        ) from None
    with told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / _LOCK)
        try:
            lock.acquire(timeout=_PATIENCE_S, poll_interval=_POLL_S)
        except Timeout:
            raise StoreError(
                f"{folder / _LOCK} has been locked by another process for {_PATIENCE_S:g} seconds",
                advice="End that process, or try again when it is done.",
            ) from None
    return lock


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what the system refuses into an error of ours.

    Raises:
        StoreError: whatever the system said of this path.
    """
    try:
        yield
    except OSError as error:
        kind = ReadOnlyStore if error.errno in _REFUSED else StoreError
        raise kind(f"{path}: {error.strerror or error}") from error


def inside(path: Path, folder: Path) -> Path:
    """The path itself, none of whose parts may be a link that leaves the folder.

    Raises:
        StoreError: one is.
    """
    if not path.resolve().is_relative_to(folder.resolve()):
        raise StoreError(f"{path} is a link to a place outside the store", advice="Put the file itself there.")
    return path


def replace(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file beside its place and move it there; readers see the old one or the new one. Needs the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(".new")
    beside.unlink(missing_ok=True)  # left by a process that was killed
    try:
        with beside.open("xb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def extend(path: Path, pieces: Iterable[bytes], *, start: int) -> None:
    """Write after the first `start` bytes of a file, over what a killed process may have left. Needs the lock.

    Who reads at that time may see the beginning of what is written.
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
_FILE = "version"
# Git joins the lines that two branches added; where they changed the same thing, the reader tells of it.
_BESIDE = {
    ".gitattributes": "*.jsonl text eol=lf merge=union\n",
    ".gitignore": ".*\n!.gitattributes\n!.gitignore\n",
}


def check(folder: Path) -> int:
    """The version of a folder; ours where it does not say.

    Raises:
        StoreError: a newer scoregate wrote it, or the file that says so cannot be understood.
    """
    path = folder / _FILE
    try:
        text = path.read_bytes()[:1000]
    except FileNotFoundError:
        return VERSION
    if not text.strip().isdigit():
        told = marker(text) or f"must be a number, not {text.decode('utf-8', 'replace').strip()!r:.40}"
        raise StoreError(f"{path}:1: {told}", advice=f"This version of scoregate writes {VERSION}.")
    if (found := int(text)) > VERSION:
        raise StoreError(
            f"{folder} was written by a newer scoregate: its version is {found}, this one reads up to {VERSION}",
            advice="Run: pip install --upgrade scoregate",
        )
    return found


def prepare(folder: Path) -> None:
    """Make a folder ready to be written. Needs the lock."""
    if check(folder) != VERSION or not (folder / _FILE).exists():
        replace(folder / _FILE, [f"{VERSION}\n".encode()])
    for name, text in _BESIDE.items():
        if not (folder / name).exists():
            replace(folder / name, [text.encode()])


@dataclass(frozen=True, slots=True)
class DirectoryStore:
    """One file a shelf, `folder/kind/name…`, as `Store` demands it."""

    folder: Path

    def shelves(self, kind: Kind[T]) -> Iterator[Key]:
        """As `Store.shelves`; a file whose name no shelf can have is an error."""
        with told(self.folder / kind.name):
            check(self.folder)
            found = sorted(shelves_in(self.folder, kind))
        yield from found

    def read(self, kind: Kind[T], shelf: Key) -> Iterator[T]:
        """As `Store.read`."""
        path = path_of(self.folder, kind, shelf)
        with told(path):
            if file := _opened(path, self.folder):
                with file:
                    yield from kind.layout.read(file, kind, origin=shown(path))

    def mark(self, kind: Kind[Any], shelf: Key) -> Hashable:
        """As `Store.mark`: the file's own, which is another one after each of our changes, its time and its size."""
        path = path_of(self.folder, kind, shelf)
        with told(path):
            try:
                found = path.stat()
            except FileNotFoundError:
                return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def update(self, kind: Kind[T], shelf: Key, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """As `Store.update`."""
        with self.writing() as writer:
            writer.update(kind, shelf, change)

    def open(self, kind: Kind[Any], shelf: Key, beside: str) -> BinaryIO | None:
        """As `Store.open`."""
        path = path_of(self.folder, kind, shelf).with_name(beside)
        with told(path):
            return _opened(path, self.folder)

    @contextmanager
    def writing(self) -> Iterator[DirectoryWriter]:
        """As `Store.writing`."""
        with locked(self.folder):
            with told(self.folder):
                prepare(self.folder)
            yield DirectoryWriter(self)

    def where(self, kind: Kind[Any], shelf: Key, beside: str = "") -> str:
        """The path, relative to the working directory where it is below that."""
        path = path_of(self.folder, kind, shelf)
        return shown(path.with_name(beside) if beside else path)


@dataclass(frozen=True, slots=True)
class DirectoryWriter:
    """Who holds the lock of a folder, as `Writer` demands it."""

    store: DirectoryStore

    def update(self, kind: Kind[T], shelf: Key, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """As `Writer.update`."""
        path = path_of(self.store.folder, kind, shelf)
        with told(path):
            items = iter(_in_order(kind, change(self.store.read(kind, shelf))))
            if (first := next(items, None)) is None:
                _remove(path, kind)
            else:
                self._put(path, kind, kind.layout.write(chain([first], items)))

    def replace(self, kind: Kind[Any], shelf: Key, beside: str, *, pieces: Iterable[bytes]) -> None:
        """As `Writer.replace`."""
        path = path_of(self.store.folder, kind, shelf).with_name(beside)
        with told(path):
            self._put(path, kind, pieces)

    def extend(self, kind: Kind[Any], shelf: Key, beside: str, *, pieces: Iterable[bytes], start: int) -> None:
        """As `Writer.extend`."""
        path = path_of(self.store.folder, kind, shelf).with_name(beside)
        with told(path):
            extend(inside(path, self.store.folder), pieces, start=start)

    def _put(self, path: Path, kind: Kind[Any], pieces: Iterable[bytes]) -> None:
        replace(inside(path, self.store.folder), pieces)
        for name, text in ((".gitattributes", kind.attributes), (".gitignore", "*\n" if kind.ignored else "")):
            path = self.store.folder / kind.name / name
            if text and not path.exists():
                replace(path, [text.encode()])


def _opened(path: Path, folder: Path) -> BinaryIO | None:
    check(folder)
    try:
        return inside(path, folder).open("rb")
    except FileNotFoundError:
        return None


def _in_order(kind: Kind[T], items: Iterable[T]) -> Iterable[T]:
    if kind.key is None:
        return items
    by_key = {kind.key(item): item for item in items}
    return [by_key[key] for key in sorted(by_key)]


def _remove(path: Path, kind: Kind[Any]) -> None:
    """The shelf first: without it, what stood beside is nothing any more."""
    path.unlink(missing_ok=True)
    for name in kind.beside:
        path.with_name(name).unlink(missing_ok=True)
    if kind.beside and path.parent.exists() and not any(path.parent.iterdir()):
        path.parent.rmdir()
