"""The default store: a folder in the repository, made for git."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from scoregate.store import version
from scoregate.store.files import extend, inside, locked, replace, told
from scoregate.store.kinds import Kind, Shelf, T
from scoregate.store.paths import path_of, shelves_in, shown


@dataclass(frozen=True, slots=True)
class DirectoryStore:
    """One file a shelf, `folder/kind/name…`, as `Store` demands it."""

    folder: Path

    def shelves(self, kind: Kind[T]) -> Iterator[Shelf]:
        """As `Store.shelves`; a file whose name no shelf can have is an error."""
        with told(self.folder / kind.name):
            version.check(self.folder)
            found = sorted(shelves_in(self.folder, kind))
        yield from found

    def read(self, kind: Kind[T], shelf: Shelf) -> Iterator[T]:
        """As `Store.read`."""
        path = path_of(self.folder, kind, shelf)
        with told(path):
            if file := _opened(path, self.folder):
                with file:
                    yield from kind.layout.read(file, kind, origin=shown(path))

    def mark(self, kind: Kind[Any], shelf: Shelf) -> Hashable:
        """As `Store.mark`: the file's own, which is another one after each of our changes, its time and its size."""
        path = path_of(self.folder, kind, shelf)
        with told(path):
            try:
                found = path.stat()
            except FileNotFoundError:
                return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def update(self, kind: Kind[T], shelf: Shelf, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """As `Store.update`."""
        with self.writing() as writer:
            writer.update(kind, shelf, change)

    def open(self, kind: Kind[Any], shelf: Shelf, beside: str) -> BinaryIO | None:
        """As `Store.open`."""
        path = path_of(self.folder, kind, shelf).with_name(beside)
        with told(path):
            return _opened(path, self.folder)

    @contextmanager
    def writing(self) -> Iterator[DirectoryWriter]:
        """As `Store.writing`."""
        with locked(self.folder):
            with told(self.folder):
                version.prepare(self.folder)
            yield DirectoryWriter(self)

    def where(self, kind: Kind[Any], shelf: Shelf, beside: str = "") -> str:
        """The path, relative to the working directory where it is below that."""
        path = path_of(self.folder, kind, shelf)
        return shown(path.with_name(beside) if beside else path)


@dataclass(frozen=True, slots=True)
class DirectoryWriter:
    """Who holds the lock of a folder, as `Writer` demands it."""

    store: DirectoryStore

    def update(self, kind: Kind[T], shelf: Shelf, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """As `Writer.update`."""
        path = path_of(self.store.folder, kind, shelf)
        with told(path):
            items = iter(_in_order(kind, change(self.store.read(kind, shelf))))
            if (first := next(items, None)) is None:
                _remove(path, kind)
            else:
                self._put(path, kind, kind.layout.write(chain([first], items)))

    def replace(self, kind: Kind[Any], shelf: Shelf, beside: str, *, pieces: Iterable[bytes]) -> None:
        """As `Writer.replace`."""
        path = path_of(self.store.folder, kind, shelf).with_name(beside)
        with told(path):
            self._put(path, kind, pieces)

    def extend(self, kind: Kind[Any], shelf: Shelf, beside: str, *, pieces: Iterable[bytes], start: int) -> None:
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
    version.check(folder)
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
