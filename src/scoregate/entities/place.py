"""Which store the entities are in: that of the project around the working directory, unless told otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from scoregate.store import Store, open_store

_CHOSEN: ContextVar[Store | None] = ContextVar("scoregate_entities_store", default=None)


def current_store() -> Store:
    """The store that `use_store` named, else the one that `open_store` finds."""
    chosen = _CHOSEN.get()
    return open_store() if chosen is None else chosen


@contextmanager
def use_store(store: Store | Path | str) -> Iterator[Store]:
    """Keep entities elsewhere as long as the block lasts; other threads and tasks have stores of their own.

    Args:
        store: a project's top folder, or a store.
    """
    token = _CHOSEN.set(open_store(store) if isinstance(store, Path | str) else store)
    try:
        yield current_store()
    finally:
        _CHOSEN.reset(token)
