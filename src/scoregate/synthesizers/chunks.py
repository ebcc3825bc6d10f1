"""Sources cut into parts that fit into one question, where a text may be cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scoregate.synthesizers.sources import Source

# Where a text is cut, the best first: between paragraphs, lines, sentences, words.
_CUTS = ("\n\n", "\n", ". ", " ")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a source; `number` counts its parts from 1."""

    source: str
    number: int
    text: str


def chunks_of(sources: Iterable[Source], size: int) -> list[Chunk]:
    """The parts of all sources, each of at most `size` characters."""
    return [
        Chunk(source.name, number, text)
        for source in sources
        for number, text in enumerate(filter(None, map(str.strip, _cut(source.text, size))), 1)
    ]


def _cut(text: str, size: int) -> Iterator[str]:
    """Every part is as long as it may be, if there is a place to cut in its second half."""
    begin = 0
    while len(text) - begin > size:
        half, most = begin + size // 2, begin + size
        places = (found + len(cut) for cut in _CUTS if (found := text.rfind(cut, half, most)) >= 0)
        end = next(places, most)
        yield text[begin:end]
        begin = end
    yield text[begin:]
