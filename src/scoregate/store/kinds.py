"""What a kind of thing in the store is: its name, its items, its files."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)
Key: TypeAlias = tuple[str, ...]


class Layout(Protocol):
    """How the items of a shelf stand in its file."""

    suffix: str

    def read(self, file: BinaryIO, kind: Kind[T], *, origin: str) -> Iterator[T]:
        """The items, one by one.

        Raises:
            StoreError: all that is wrong with the file, each with its line. `origin` is how the file is called.
        """

    def write(self, items: Iterable[T]) -> Iterator[bytes]:
        """The file, piece by piece."""


@dataclass(frozen=True)
class Kind(Generic[T]):
    """One kind of thing.

    Args:
        name: of its folder. model: of its items. layout: of its files.
        shelf: what the names of a shelf stand for, outermost first, such as ("evaluator",).
        key: what tells the items of a shelf apart, hashable; they are kept in its order, and of two with one key the
            later stays. None keeps all, in the order given.
        same: whether two items with one key say the same, so that either may stay.
        beside: names of further files in the folder of a shelf; its layout's suffix then begins with a slash.
        attributes: what git has to know of the files of this kind, as lines of a `.gitattributes`.
        ignored: whether git is told to leave the folder of this kind out.
    """

    name: str
    model: type[T]
    layout: Layout
    shelf: tuple[str, ...]
    key: Callable[[T], Any] | None = None
    same: Callable[[T, T], bool] = operator.eq
    beside: tuple[str, ...] = ()
    attributes: str = ""
    ignored: bool = False
