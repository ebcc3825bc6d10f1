"""Partitions of a run among shards: budgets, digests and partitions that are not valid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from scoregate.kernel.types.sharding.partition import (
    Assignment,
    Partition,
    find_partition_problem,
    list_work,
    make_partition,
)

WHOLE = (Assignment("a.py"),)
HALVES = tuple(Assignment("b.py", "bot", part, 2) for part in (1, 2))
REST = Assignment("b.py")


def make(*shards: Sequence[Assignment], seconds: Sequence[float] = (3.0, 1.0, 0.0)) -> Partition:
    return make_partition(zip(seconds, map(tuple, shards), strict=False), commit="c", code="d", settings={"x": "1"})


def test_the_budget_is_shared_by_durations() -> None:
    partition = make(WHOLE, [REST, HALVES[0]], [HALVES[1]])
    assert [partition.budget_share(number) for number in (1, 2, 3)] == [0.75, 0.25, 0.0]
    unknown = make(WHOLE, [REST], seconds=(0, 0))
    assert [unknown.budget_share(number) for number in (1, 2)] == [0.5, 0.5]
    assert [partition.shard(number).number for number in (1, 3)] == [1, 3]


def test_digests_depend_on_the_work_and_the_conditions_and_not_on_durations() -> None:
    first, slower = make(WHOLE, [REST]), make(WHOLE, [REST], seconds=(9, 9))
    assert first.fingerprint == slower.fingerprint
    assert [shard.id for shard in first.shards] == [shard.id for shard in slower.shards]
    assert first.shards[0].id != first.shards[1].id
    for other in ({"commit": "e"}, {"code": None}, {"settings": {"x": "2"}}):
        conditions = {"commit": "c", "code": "d", "settings": {"x": "1"}} | other
        made = make_partition([(3.0, WHOLE), (1.0, (REST,))], **conditions)  # type: ignore[arg-type]
        assert made.fingerprint != first.fingerprint
    assert make(WHOLE, seconds=(1.23456,)).shards[0].seconds == 1.235


def test_the_work_of_a_shard_is_listed() -> None:
    assert list(list_work([*WHOLE, REST, *HALVES])) == ["a.py", "b.py::bot 2/2"]
    assert list(list_work([HALVES[0], Assignment("b.py", "web")])) == ["b.py::bot 1/2", "b.py::web"]
    assert list(list_work([])) == []


def test_a_whole_partition_has_no_problem() -> None:
    for partition in (make(WHOLE), make(WHOLE, [REST, HALVES[0]], [HALVES[1]]), make([], WHOLE)):
        assert find_partition_problem(partition) == ""


@pytest.mark.parametrize(
    ("assignments", "problem"),
    [
        ([*WHOLE, *WHOLE], "two shards run the same part of 'a.py'"),
        ([REST, HALVES[0]], "the parts of 'bot' are not complete"),
        ([REST, *HALVES, Assignment("b.py", "bot")], "the parts of 'bot' are not complete"),
        ([Assignment("a.py", "", part, 2) for part in (1, 2)], "the parts of 'a.py' are not complete"),
        ([REST, Assignment("b.py", "bot", 0, 2), HALVES[0]], "'b.py' has no part 0 of 2"),
        ([REST, Assignment("b.py", "bot", 3, 2), HALVES[0]], "'b.py' has no part 3 of 2"),
        (HALVES, "no shard runs the other suites of 'b.py'"),
    ],
)
def test_each_part_has_one_shard(assignments: Sequence[Assignment], problem: str) -> None:
    assert find_partition_problem(make(assignments)) == problem
    assert find_partition_problem(make(*([each] for each in assignments), seconds=[1.0] * 9)) == problem


def test_a_partition_that_was_changed_is_not_valid() -> None:
    partition = make(WHOLE, [REST])
    first, second = partition.shards
    assert find_partition_problem(replace(partition, shards=())).startswith("it has 0 shards; there must be 1 to ")
    for shards in ((second, first), (replace(first, number=2), second)):
        assert find_partition_problem(replace(partition, shards=shards)) == "its shards are not numbered from 1"
    for seconds in (-0.1, 1e9, float("nan")):
        changed = replace(partition, shards=(replace(first, seconds=seconds), second))
        assert find_partition_problem(changed) == "a duration is not valid"
    changed_ones = (
        replace(partition, commit="e"),
        replace(partition, fingerprint="f"),
        replace(partition, shards=(replace(first, id="f"), second)),
        replace(partition, shards=(replace(first, assignments=(REST,)), second)),
    )
    for changed in changed_ones:
        assert find_partition_problem(changed).startswith("its content does not match its fingerprint")
