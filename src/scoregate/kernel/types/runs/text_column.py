"""Many short texts and keys in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import overload

_ENCODING, _ERRORS = "utf-8", "surrogatepass"
_MOST_LISTED = 200_000


class TextColumn(Sequence[str]):
    """Texts that are only appended. A million digests take 16 MB; as a list of strings they would take 65 MB.

    Args:
        texts: the first texts.
    """

    __slots__ = ("_data", "_ends")

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._data, self._ends = bytearray(), array("Q", [0])
        self.extend(texts)

    def append(self, text: str) -> None:
        """Append a text."""
        self._data += text.encode(_ENCODING, _ERRORS)
        self._ends.append(len(self._data))

    def extend(self, texts: Iterable[str]) -> None:
        """Append several texts."""
        texts = list(texts)
        encoded = "".join(texts).encode(_ENCODING, _ERRORS)
        lengths = list(map(len, texts))
        if sum(lengths) != len(encoded):  # they are not all ASCII
            lengths = [len(text.encode(_ENCODING, _ERRORS)) for text in texts]
        self._ends.extend(array("Q", list(accumulate(lengths, initial=len(self._data)))[1:]))
        self._data += encoded

    def unpack(self) -> TextColumn | list[str]:
        """Up to 200,000 texts as a list, which is faster to read and takes 10 MB more; else the column."""
        return list(self) if len(self) <= _MOST_LISTED else self

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = range(len(self))[index]
        return self._data[self._ends[row] : self._ends[row + 1]].decode(_ENCODING, _ERRORS)

    def __iter__(self) -> Iterator[str]:
        for start, end in pairwise(self._ends):
            yield self._data[start:end].decode(_ENCODING, _ERRORS)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TextColumn):
            return self._ends == other._ends and self._data == other._data
        return list(self) == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TextColumn({list(self)!r})"


_MOST_AS_THEY_ARE = 200_000
_HASH = (1 << 64) - 1


class KeySet:
    """Keys that are only added. A million take 17 MB; as a set of short texts they would take 100 MB.

    Up to 200,000 are in a set, which is faster; then it stores their 64-bit hashes instead. That any two of a million
    have the same one has a probability of 3 in 10^8.
    """

    __slots__ = ("_count", "_keys", "_table")

    def __init__(self) -> None:
        self._keys: set[Hashable] = set()
        self._table, self._count = array("Q"), 0

    def add(self, key: Hashable) -> bool:
        """Add a key; False if it was added before."""
        if self._table:
            return self._insert(key)
        keys = self._keys
        count = len(keys)
        keys.add(key)
        if len(keys) == count:
            return False
        if count == _MOST_AS_THEY_ARE:
            self._keys = set()
            self._table = array("Q", [0]) * (1 << (2 * len(keys)).bit_length())
            for each in keys:
                self._insert(each)
        return True

    def __contains__(self, key: Hashable) -> bool:
        return self._table[self._find(_code(key))] != 0 if self._table else key in self._keys

    def __len__(self) -> int:
        return self._count + len(self._keys)

    def clear(self) -> None:
        """Remove all keys."""
        self._keys, self._table, self._count = set(), array("Q"), 0

    def _insert(self, key: Hashable) -> bool:
        code = _code(key)
        slot = self._find(code)
        if self._table[slot]:
            return False
        self._table[slot] = code
        self._count += 1
        if 3 * self._count > 2 * len(self._table):
            old = self._table
            self._table = array("Q", [0]) * (2 * len(old))
            for each in filter(None, old):
                self._table[self._find(each)] = each
        return True

    def _find(self, code: int) -> int:
        """The place of a code, or the empty place where it belongs."""
        table = self._table
        mask = len(table) - 1
        slot = code & mask
        while (known := table[slot]) and known != code:
            slot = (slot + 1) & mask
        return slot


def _code(key: Hashable) -> int:
    """The hash of a key; never 0, which is an empty place."""
    return hash(key) & _HASH or 1
