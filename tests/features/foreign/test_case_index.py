"""The index of a run's cases in memory."""

from __future__ import annotations

import tracemalloc

import pytest

from scoregate.features.foreign.case_index import CaseIndex, Spool
from scoregate.kernel.types.evaluation import Evaluation

CASES = 10_000


def test_a_case_takes_little_memory() -> None:
    tracemalloc.start()
    index, before = CaseIndex(), tracemalloc.get_traced_memory()[0]
    for case in range(CASES):
        index.add_result(f"{case:032x}", case, 0)
        for evaluator in ("a", "b"):
            index.add_score(f"{case:032x}", evaluator, case, Evaluation(1.0))
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert index.means == {"a": 1.0, "b": 1.0}
    assert grown / CASES < 400


def test_evaluators_are_bounded() -> None:
    index = CaseIndex()
    for number in range(1_000):
        index.add_error("a", str(number), 0)
    with pytest.raises(OverflowError, match="1,000 scorers"):
        index.add_error("a", "one more", 0)


@pytest.mark.parametrize("size", [0, 1, 4091, 4092, 4093, 100_000])
def test_the_spool_round_trips(size: int) -> None:
    spool = Spool()
    bodies = [b"first", bytes(range(256)) * (size // 256) + b"x" * (size % 256), b"last"]
    places = [spool.add(body) for body in bodies]
    assert [spool.read(place) for place in reversed(places)] == bodies[::-1]
    spool.close()
