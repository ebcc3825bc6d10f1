"""How many tests are asked for at once, of what, and what is asked for again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from scoregate.synthesizers.chunks import Chunk


@dataclass(frozen=True, slots=True)
class Batch:
    """One question for `size` tests, drawn from a chunk where there are sources.

    Its number, from 1, makes the question another one than those of other batches; `known` is what need not be asked
    for again.
    """

    number: int
    size: int
    chunk: Chunk | None = None
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Tests that a batch was asked for and did not give; `failed` says that there was no answer at all."""

    batch: Batch
    missing: int
    failed: bool


def first_batches(tests: int, most: int, chunks: Sequence[Chunk]) -> list[Batch]:
    """So many tests, at most so many at once, spread evenly over the chunks; the last batch has what remains."""
    shares = spread(tests, chunks) if chunks else [(None, tests)]
    sized = ((size, chunk) for chunk, share in shares for size in sizes(share, most))
    return [Batch(number, size, chunk) for number, (size, chunk) in enumerate(sized, 1)]


def batches_again(gaps: Iterable[Gap], most: int, *, after: int, known: Sequence[str]) -> list[Batch]:
    """What is missing, chunk by chunk; where there was no answer, half as many at once.

    Args:
        after: the number of the last batch so far.
    """
    by_chunk: dict[Chunk | None, list[Gap]] = {}
    for gap in gaps:
        by_chunk.setdefault(gap.batch.chunk, []).append(gap)
    numbers = count(after + 1)
    return [
        Batch(next(numbers), size, chunk, tuple(known))
        for chunk, found in by_chunk.items()
        for size in sizes(sum(gap.missing for gap in found), _fewer(found, most))
    ]


def sizes(tests: int, most: int) -> Iterator[int]:
    """Parts of at most `most` that add up to all."""
    yield from (min(most, tests - begun) for begun in range(0, tests, most))


def spread(tests: int, chunks: Sequence[Chunk]) -> list[tuple[Chunk | None, int]]:
    """How many each chunk gives: about as many, and where there are fewer tests than chunks, one from every so many."""
    if tests < len(chunks):
        return [(chunks[number * len(chunks) // tests], 1) for number in range(tests)]
    each, more = divmod(tests, len(chunks))
    return [(chunk, each + (number < more)) for number, chunk in enumerate(chunks)]


def _fewer(gaps: Iterable[Gap], most: int) -> int:
    return max(1, min((gap.batch.size // 2 for gap in gaps if gap.failed), default=most))
