"""A set of many keys in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Hashable

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
