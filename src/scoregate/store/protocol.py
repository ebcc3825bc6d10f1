"""What a store can do, wherever it keeps things."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, Protocol

from scoregate.store.kinds import Key, Kind, T


class Writer(Protocol):
    """Several changes by the one who holds the lock. Each is whole or not at all; others see them one after another."""

    def update(self, kind: Kind[T], shelf: Key, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """As `Store.update`; with a shelf goes what stands beside it."""

    def replace(self, kind: Kind[Any], shelf: Key, beside: str, *, pieces: Iterable[bytes]) -> None:
        """Put these bytes in the place of a file beside a shelf, or of none."""

    def extend(self, kind: Kind[Any], shelf: Key, beside: str, *, pieces: Iterable[bytes], start: int) -> None:
        """Add bytes to a file beside a shelf; what a killed process left there after its first `start` bytes goes."""


class Store(Protocol):
    """Shelves of items, by kind. Calls block; from async code they belong in a worker thread.

    Processes may read and write at the same time: a reader sees a shelf as it was before or after a change, and no
    change is lost. Every method raises `StoreError` where something cannot be read or written.
    """

    def shelves(self, kind: Kind[T]) -> Iterator[Key]:
        """The names of all shelves of a kind that hold something, in order; what they hold is not read."""

    def read(self, kind: Kind[T], shelf: Key) -> Iterator[T]:
        """The items of one shelf, one by one; none where there is no such shelf."""

    def mark(self, kind: Kind[Any], shelf: Key) -> Hashable:
        """What differs from before once a shelf has been written, by whomever; it is not read. None: no such shelf."""

    def update(self, kind: Kind[T], shelf: Key, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """Put what `change` makes of a shelf's items in their place, as one step; no items, no shelf.

        `change` must not write to the store itself.
        """

    def open(self, kind: Kind[Any], shelf: Key, beside: str) -> BinaryIO | None:
        """The bytes of a file beside a shelf, as they are now whatever is written later; None where there is none."""

    def writing(self) -> AbstractContextManager[Writer]:
        """Hold the lock, for several changes that belong together.

        Raises:
            ReadOnlyStore: nothing can be written here.
        """

    def where(self, kind: Kind[Any], shelf: Key, beside: str = "") -> str:
        """Where a person finds a shelf, or a file beside it, such as a path relative to the root."""
