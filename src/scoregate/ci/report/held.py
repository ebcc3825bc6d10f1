"""Text that came before its turn: kept small by compression, and given up where it is too much even so."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator

_LIMIT = 32 * 1024 * 1024


class Held:
    """Pieces of text by place, at most `limit` bytes of them once compressed; who goes over it spills."""

    def __init__(self, limit: int = _LIMIT) -> None:
        self._left = limit
        self._pieces: dict[int, list[bytes]] = {}
        self._counts: Counter[int] = Counter()
        self._spilled: set[int] = set()

    def put(self, place: int, text: str, count: int) -> None:
        """Keep `text`, which stands for `count` things, unless its place has spilled."""
        if place in self._spilled:
            return
        piece = zlib.compress(text.encode(), 1)
        if len(piece) > self._left:
            self._spilled.add(place)
            self._left += sum(map(len, self._pieces.pop(place, ())))
            return
        self._left -= len(piece)
        self._counts[place] += count
        self._pieces.setdefault(place, []).append(piece)

    def spilled(self, place: int) -> bool:
        """Whether something of this place was given up, so that all of it must be read again."""
        return place in self._spilled

    def count(self, place: int) -> int:
        """How many things are kept for this place."""
        return self._counts[place]

    def take(self, place: int) -> Iterator[str]:
        """Yield what is kept for this place, in the order in which it came, and forget it."""
        for piece in self._pieces.pop(place, ()):
            self._left += len(piece)
            yield zlib.decompress(piece).decode()
