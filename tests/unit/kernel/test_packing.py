"""Packing: every part has one shard, shards are short, and the same durations always have the same result."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scoregate.kernel.types.selection import PartChoice
from scoregate.kernel.types.sharding.packing import LaunchDuration, Load, SuiteDuration, choose_shards, pack_launches
from scoregate.kernel.types.sharding.partition import find_partition_problem, make_partition
from scoregate.kernel.types.suite import Case

seconds = st.floats(0, 1e4)
suites = st.lists(
    st.builds(SuiteDuration, st.sampled_from("abcd"), seconds, st.integers(1, 50)), max_size=4, unique_by=lambda s: s.id
)
launches = st.lists(
    st.builds(LaunchDuration, st.sampled_from("uvwxyz"), seconds, suites.map(tuple), seconds),
    max_size=6,
    unique_by=lambda launch: launch.name,
)


def problem(loads: tuple[Load, ...]) -> str:
    return find_partition_problem(make_partition(loads, commit=None, code=None, settings={}))


@given(launches, st.integers(1, 12))
@settings(max_examples=200, deadline=None)
def test_every_part_has_one_shard_in_any_order(work: list[LaunchDuration], shards: int) -> None:
    loads = pack_launches(work, shards)
    assert len(loads) == shards
    assert problem(loads) == ""
    assert {each.launch for _, assigned in loads for each in assigned} == {launch.name for launch in work}
    assert pack_launches(work[::-1], shards) == loads
    assert all(each.parts == 1 for _, assigned in pack_launches(work, shards, splits=False) for each in assigned)


def test_one_long_suite_is_split_and_short_files_stay_whole() -> None:
    long = LaunchDuration("long.py", 5.0, (SuiteDuration("long", 1000.0, 400), SuiteDuration("short", 3.0, 10)))
    files = [LaunchDuration(f"file {number}.py", 2.0, (SuiteDuration("x", 10.0, 20),)) for number in range(20)]
    loads = choose_shards([long, *files], 300)
    assert problem(loads) == ""
    assert len(loads) == 5
    assert max(taken for taken, _ in loads) <= 300
    assert sum(taken for taken, _ in loads) < 1.05 * (1008 + 20 * 12)
    assert {each.launch for _, work in loads for each in work if each.suite} == {"long.py"}


def test_indivisible_suites_need_no_more_shards() -> None:
    fixed = LaunchDuration("commands", 0.0, seconds=1000.0)
    loads = choose_shards([fixed, LaunchDuration("other", 0.0, seconds=20.0)], 100)
    assert loads[0][0] == 1000.0
    assert len(loads) == 2


def test_parts_are_a_division_of_the_cases_in_any_order() -> None:
    cases = [Case(f"case {number}", None, 1 + number % 3) for number in range(103)]
    for parts in (1, 2, 7, 103, 150):
        choices = [PartChoice({"s": ((number,), parts)}) for number in range(1, parts + 1)]
        taken = [choice.take_cases("s", cases) for choice in choices]
        assert sorted(case for part, _ in taken for case in part) == sorted(cases)
        assert max(len(part) for part, _ in taken) - min(len(part) for part, _ in taken) <= 1
        assert len({info and (info.of, info.cases, info.digest) for _, info in taken}) == 1
        again = [set(choice.take_cases("s", cases[::-1])[0]) for choice in choices]
        assert again == [set(part) for part, _ in taken]
    assert (
        PartChoice({"s": ((1,), 2)}).take_cases("s", cases)[1]
        != PartChoice({"s": ((1,), 2)}).take_cases("s", cases[1:])[1]
    )
