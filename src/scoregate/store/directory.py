"""The default store: a folder in the repository, made for git."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from scoregate.errors import StoreError
from scoregate.store import version
from scoregate.store.files import inside, locked, replace, told
from scoregate.store.kinds import Kind, Shelf, T
from scoregate.store.names import to_names, to_parts


@dataclass(frozen=True, slots=True)
class DirectoryStore:
    """One file a shelf, `folder/kind/name…`, as `Store` demands it."""

    folder: Path

    def shelves(self, kind: Kind[T]) -> Iterator[Shelf]:
        """As `Store.shelves`; a file whose name no shelf can have is an error."""
        top = self.folder / kind.name
        with told(top):
            version.check(self.folder)
            found = [path for path in top.rglob(f"*{kind.layout.suffix}") if path.is_file()]
        yield from sorted(_named(path, top, kind) for path in found if not path.name.startswith("."))

    def read(self, kind: Kind[T], shelf: Shelf) -> Iterator[T]:
        """As `Store.read`."""
        path = self._path(kind, shelf)
        with told(path):
            version.check(self.folder)
            try:
                file = inside(path, self.folder).open("rb")
            except FileNotFoundError:
                return
            with file:
                yield from kind.layout.read(file, kind, origin=_shown(path))

    def update(self, kind: Kind[T], shelf: Shelf, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """As `Store.update`."""
        path = self._path(kind, shelf)
        with told(path), locked(self.folder):
            version.prepare(self.folder)
            items = iter(_in_order(kind, change(self.read(kind, shelf))))
            if (first := next(items, None)) is None:
                path.unlink(missing_ok=True)
            else:
                replace(inside(path, self.folder), kind.layout.write(chain([first], items)))

    def where(self, kind: Kind[T], shelf: Shelf) -> str:
        """The path, relative to the working directory where it is below that."""
        return _shown(self._path(kind, shelf))

    def _path(self, kind: Kind[T], shelf: Shelf) -> Path:
        if len(shelf) != len(kind.shelf):
            raise ValueError(f"{kind.name} are found by {' and '.join(kind.shelf)}, not by {shelf!r}")
        *folders, last = to_parts(shelf)
        return self.folder.joinpath(kind.name, *folders, last + kind.layout.suffix)


def _in_order(kind: Kind[T], items: Iterable[T]) -> Iterable[T]:
    if kind.key is None:
        return items
    by_key = {kind.key(item): item for item in items}
    return [by_key[key] for key in sorted(by_key)]


def _named(path: Path, top: Path, kind: Kind[T]) -> Shelf:
    *folders, last = path.relative_to(top).parts
    try:
        shelf = to_names((*folders, last.removesuffix(kind.layout.suffix)))
    except ValueError as error:
        raise _misnamed(path, f"{error}{kind.layout.suffix}") from None
    if len(shelf) != len(kind.shelf):
        raise _misnamed(path, "/".join(f"<{name}>" for name in kind.shelf) + kind.layout.suffix)
    return shelf


def _misnamed(path: Path, proper: str) -> StoreError:
    return StoreError(
        f"{_shown(path)} has a name that nothing in the store can have", advice=f"Name it {proper}, or move it away."
    )


def _shown(path: Path) -> str:
    inner = os.path.relpath(path)
    return str(path) if inner.startswith(os.pardir) else inner
