"""Where in a folder the shelves of a store are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scoregate.errors import StoreError
from scoregate.store.kinds import Kind, Shelf
from scoregate.store.names import to_names, to_parts


def path_of(folder: Path, kind: Kind[Any], shelf: Shelf) -> Path:
    """The file of a shelf.

    Raises:
        ValueError: shelves of this kind have more names, or fewer.
    """
    if len(shelf) != len(kind.shelf):
        raise ValueError(f"{kind.name} are found by {' and '.join(kind.shelf)}, not by {shelf!r}")
    *folders, last = to_parts(shelf)
    return folder.joinpath(kind.name, *folders, last + kind.layout.suffix)


def shelves_in(folder: Path, kind: Kind[Any]) -> Iterator[Shelf]:
    """The shelves that have files, as they come.

    Raises:
        StoreError: a file has a name that no shelf can have.
    """
    top = folder / kind.name
    for path in top.rglob(f"*{kind.layout.suffix}"):
        if not path.name.startswith(".") and path.is_file():
            yield _shelf_of(path, top, kind)


def shown(path: Path) -> str:
    """A path as people know it: relative to the working directory where it is below that."""
    inner = os.path.relpath(path)
    return str(path) if inner.startswith(os.pardir) else inner


def _shelf_of(path: Path, top: Path, kind: Kind[Any]) -> Shelf:
    suffix = kind.layout.suffix
    try:
        shelf = to_names(path.relative_to(top).as_posix().removesuffix(suffix).split("/"))
    except ValueError as error:
        raise _misnamed(path, f"{error}{suffix}") from None
    if len(shelf) != len(kind.shelf):
        raise _misnamed(path, "/".join(f"<{name}>" for name in kind.shelf) + suffix)
    return shelf


def _misnamed(path: Path, proper: str) -> StoreError:
    return StoreError(
        f"{shown(path)} has a name that nothing in the store can have", advice=f"Name it {proper}, or move it away."
    )
