"""A column of short texts in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
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
