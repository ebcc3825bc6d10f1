"""The kinds of items that the store keeps: the model of each, its files and its keys."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)
Key: TypeAlias = tuple[str, ...]


class Layout(Protocol):
    """The file format of a collection. `suffix` is the end of the file's path."""

    suffix: str

    def read(self, file: BinaryIO, kind: Kind[T], *, origin: str) -> Iterator[T]:
        """Read the items one by one.

        Args:
            file: the open file.
            kind: the kind of the items.
            origin: the name of the file in error messages.

        Raises:
            StoreError: lists everything that is wrong with the file, with line numbers.
        """

    def write(self, items: Iterable[T]) -> Iterator[bytes]:
        """The content of the file, in pieces."""


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of item. Its items are in collections; each collection is one file and has a key.

    Args:
        name: the name of the folder.
        model: the class of the items.
        layout: the format of the files.
        key_parts: the meaning of each part of a collection's key, such as ("evaluator",).
        item_key: gives the hashable key of an item. The items of a collection are sorted by it, and of two items with
            the same key the later one is kept. None keeps all items in their order.
        is_same: whether two items with the same key have the same meaning, so that either may be kept.
        extra_files: names of more files in the folder of a collection. The layout's suffix then begins with a slash.
        attributes: the lines of the `.gitattributes` file in the folder of this kind.
        ignored: whether git ignores the folder of this kind.
    """

    name: str
    model: type[T]
    layout: Layout
    key_parts: tuple[str, ...]
    item_key: Callable[[T], Any] | None = None
    is_same: Callable[[T, T], bool] = operator.eq
    extra_files: tuple[str, ...] = ()
    attributes: str = ""
    ignored: bool = False
