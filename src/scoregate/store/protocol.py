"""The interface of a store."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, Protocol

from scoregate.store.kinds import Key, Kind, T


class Writer(Protocol):
    """Makes several changes while it holds the lock. Each change is atomic; readers may see one before the next."""

    def update(self, kind: Kind[T], key: Key, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """As `Store.update`. If the collection is removed, its extra files are removed too."""

    def replace(self, kind: Kind[Any], key: Key, file_name: str, *, pieces: Iterable[bytes]) -> None:
        """Write an extra file of a collection, in place of the old one."""

    def extend(self, kind: Kind[Any], key: Key, file_name: str, *, pieces: Iterable[bytes], start: int) -> None:
        """Append to an extra file of a collection. Bytes after `start`, left by a killed process, are overwritten."""


class Store(Protocol):
    """Collections of items, by kind and key. Methods block; call them in a worker thread from async code.

    Several processes may use a store at the same time. A reader sees a collection before or after a change, and no
    change is lost. All methods raise `StoreError` if something cannot be read or written.
    """

    def list_keys(self, kind: Kind[T]) -> Iterator[Key]:
        """The sorted keys of all collections of a kind that are not empty. The items are not read."""

    def read(self, kind: Kind[T], key: Key) -> Iterator[T]:
        """The items of a collection, one by one; no items if there is no such collection."""

    def stamp(self, kind: Kind[Any], key: Key) -> Hashable:
        """A value that changes with every write to a collection, by any process; None if there is no such collection.

        The collection is not read.
        """

    def update(self, kind: Kind[T], key: Key, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """Replace the items of a collection in one step.

        Args:
            kind: the kind of the items.
            key: the key of the collection.
            change: gets the present items and returns the new ones; with no items the collection is removed. It must
                not write to the store.
        """

    def open(self, kind: Kind[Any], key: Key, file_name: str) -> BinaryIO | None:
        """Open an extra file of a collection. Later writes do not change what it reads. None if there is no file."""

    def open_writer(self) -> AbstractContextManager[Writer]:
        """Hold the lock for several changes.

        Raises:
            ReadOnlyStore: the store cannot be written.
        """

    def location(self, kind: Kind[Any], key: Key, file_name: str = "") -> str:
        """The place of a collection or of one of its extra files, for messages, such as a relative path."""
