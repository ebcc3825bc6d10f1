"""What a store can do, wherever it keeps things."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from scoregate.store.kinds import Kind, Shelf, T


class Store(Protocol):
    """Shelves of items, by kind. Calls block; from async code they belong in a worker thread.

    Processes may read and write at the same time: a reader sees a shelf as it was before or after a change, and no
    change is lost. Every method raises `StoreError` where something cannot be read or written.
    """

    def shelves(self, kind: Kind[T]) -> Iterator[Shelf]:
        """The names of all shelves of a kind that hold something, in order; what they hold is not read."""

    def read(self, kind: Kind[T], shelf: Shelf) -> Iterator[T]:
        """The items of one shelf, one by one; none where there is no such shelf."""

    def update(self, kind: Kind[T], shelf: Shelf, change: Callable[[Iterator[T]], Iterable[T]]) -> None:
        """Put what `change` makes of a shelf's items in their place, as one step; no items, no shelf.

        `change` must not write to the store itself.
        """

    def where(self, kind: Kind[T], shelf: Shelf) -> str:
        """Where a person finds a shelf, such as a path relative to the root."""
