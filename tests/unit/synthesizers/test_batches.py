"""How many tests are requested at once, and what is requested again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scoregate.synthesizers.ask_model import Batch, Shortfall, batch_sizes, distribute, first_batches, retry_batches
from scoregate.synthesizers.sources import Chunk

CHUNKS = st.lists(st.builds(Chunk, st.just("a"), st.integers(1, 9), st.text()), max_size=12)


def test_the_remainder_is_kept() -> None:
    assert list(batch_sizes(25, 10)) == [10, 10, 5]
    assert [(batch.number, batch.size) for batch in first_batches(25, 10, [])] == [(1, 10), (2, 10), (3, 5)]


@given(tests=st.integers(1, 200), most=st.integers(1, 30), chunks=CHUNKS)
def test_batches_add_up_and_are_numbered(tests: int, most: int, chunks: list[Chunk]) -> None:
    batches = first_batches(tests, most, chunks)
    assert sum(batch.size for batch in batches) == tests
    assert all(1 <= batch.size <= most for batch in batches)
    assert [batch.number for batch in batches] == list(range(1, len(batches) + 1))


def test_tests_are_spread_over_chunks() -> None:
    chunks = [Chunk("a", number, "x") for number in range(1, 5)]
    assert [share for _, share in distribute(6, chunks)] == [2, 2, 1, 1]
    assert [chunk.number for chunk, _ in distribute(2, chunks) if chunk] == [1, 3]


def test_missing_tests_are_requested_again_in_half_batches_after_none() -> None:
    gaps = [Shortfall(Batch(1, 10), 2, failed=False), Shortfall(Batch(2, 10), 10, failed=True)]
    again = retry_batches(gaps, 10, after=2, known=["a"])
    assert [(batch.number, batch.size) for batch in again] == [(3, 5), (4, 5), (5, 2)]
    assert {batch.known for batch in again} == {("a",)}


def test_missing_tests_of_a_chunk_use_that_chunk() -> None:
    one, other = Chunk("a", 1, "x"), Chunk("a", 2, "y")
    gaps = [Shortfall(Batch(1, 4, one), 0, failed=False), Shortfall(Batch(2, 4, other), 3, failed=False)]
    assert [(batch.chunk, batch.size) for batch in retry_batches(gaps, 20, after=2, known=[])] == [(other, 3)]
    assert list(retry_batches([Shortfall(Batch(1, 1), 1, failed=True)], 20, after=1, known=[])) == [Batch(2, 1)]
