"""How work is divided among shards, in examples with one right answer."""

from __future__ import annotations

import pytest

from scoregate.kernel.types.selection import CaseChoice, CaseSelection, PartChoice
from scoregate.kernel.types.sharding.packing import LaunchDuration, Load, SuiteDuration, choose_shards, pack_launches
from scoregate.kernel.types.sharding.partition import Assignment
from scoregate.kernel.types.suite import Case


def make_launch(
    name: str, *suites: tuple[str, float, int], overhead: float = 0.0, seconds: float = 0.0
) -> LaunchDuration:
    return LaunchDuration(name, overhead, tuple(SuiteDuration(*suite) for suite in suites), seconds)


def show(loads: tuple[Load, ...]) -> list[tuple[float, str]]:
    """The seconds of each shard, and its work in short: `a:s 1/2` is half of suite s of launch a."""
    return [(round(seconds, 3), " ".join(map(show_assignment, assignments))) for seconds, assignments in loads]


def show_assignment(each: Assignment) -> str:
    suite = f":{each.suite}" if each.suite else ""
    return f"{each.launch}{suite}" + (f"_{each.part}/{each.parts}" if each.parts > 1 else "")


def test_a_launch_takes_its_overhead_and_all_its_suites() -> None:
    assert make_launch("a", ("s", 3.0, 1), ("t", 4.0, 1), overhead=1.0, seconds=2.0).total == 10.0
    assert LaunchDuration("a", 1.0).total == 1.0


def test_the_longest_launch_is_packed_first() -> None:
    launches = [
        make_launch(name, seconds=seconds) for name, seconds in (("a", 3.0), ("b", 5.0), ("c", 4.0), ("d", 2.0))
    ]
    assert show(pack_launches(launches, 2)) == [(7.0, "a c"), (7.0, "b d")]
    assert show(pack_launches(launches, 1)) == [(14.0, "a b c d")]
    assert show(pack_launches(launches[:1], 2)) == [(3.0, "a"), (0.0, "")]
    assert pack_launches([], 2) == ((0.0, ()), (0.0, ()))


def test_overhead_counts_in_every_shard_that_starts_a_launch() -> None:
    launches = [make_launch("a", overhead=2.0, seconds=1.0), make_launch("b", overhead=1.0, seconds=1.0)]
    assert show(pack_launches(launches, 1)) == [(5.0, "a b")]
    assert show(pack_launches(launches, 2)) == [(3.0, "a"), (2.0, "b")]
    divided = [make_launch("a", ("s", 50.0, 1), ("t", 50.0, 1), overhead=2.0)]
    assert show(pack_launches(divided, 2)) == [(52.0, "a a:s"), (52.0, "a:t")]


def test_a_launch_is_divided_into_suites_before_suites_into_parts() -> None:
    launch = make_launch("a", ("s", 60.0, 10), ("t", 40.0, 10))
    assert show(pack_launches([launch], 1)) == [(100.0, "a")]
    assert show(pack_launches([launch], 2, splits=False)) == [(60.0, "a a:s"), (40.0, "a:t")]
    assert show(pack_launches([launch], 2)) == [(50.0, "a a:s_1/4 a:s_3/4 a:t_1/2"), (50.0, "a:s_2/4 a:s_4/4 a:t_2/2")]


def test_a_long_suite_is_split_into_parts() -> None:
    long = make_launch("a", ("s", 100.0, 100))
    assert show(pack_launches([long], 2)) == [(50.0, "a a:s_1/2"), (50.0, "a:s_2/2")]
    assert show(pack_launches([long], 4)) == [
        (25.0, "a a:s_1/4"), (25.0, "a:s_2/4"), (25.0, "a:s_3/4"), (25.0, "a:s_4/4"),
    ]  # fmt: skip
    few = make_launch("a", ("s", 100.0, 2))
    assert show(pack_launches([few], 4)) == [(50.0, "a a:s_1/2"), (50.0, "a:s_2/2"), (0.0, ""), (0.0, "")]
    assert show(pack_launches([long], 2, splits=False)) == [(100.0, "a"), (0.0, "")]


@pytest.mark.parametrize(("overhead", "is_divided"), [(24.9, True), (25.0, False)])
def test_a_piece_is_divided_if_it_takes_more_than_two_processes(overhead: float, is_divided: bool) -> None:
    launch = make_launch("a", ("s", 25.0, 1), ("t", 25.0, 1), overhead=overhead)
    loads = pack_launches([launch, make_launch("b", seconds=1.0)], 2)
    assert any(each.suite for _, work in loads for each in work) is is_divided


def test_balanced_shards_are_left_alone() -> None:
    """The longest may take a twentieth more than its share."""
    for second, is_divided in ((95.0, False), (90.0, True)):
        launches = [make_launch("a", ("s", 5.0, 1), ("t", 100.0, 1)), make_launch("b", seconds=second)]
        loads = pack_launches(launches, 2)
        assert any(each.suite for _, work in loads for each in work) is is_divided


def test_the_fewest_shards_that_keep_a_target_are_chosen() -> None:
    launches = [make_launch(str(number), seconds=10.0) for number in range(6)]
    for target, count in ((60.0, 1), (59.9, 2), (30.0, 2), (29.9, 3), (20.0, 3), (10.0, 6)):
        loads = choose_shards(launches, target)
        assert len(loads) == count
        assert loads[0][0] <= target
    assert len(choose_shards(launches, 5.0)) == 6
    assert len(choose_shards([make_launch(str(number), seconds=10.0) for number in range(300)], 1.0)) == 256
    uneven = [make_launch("a", seconds=6.0), make_launch("b", seconds=6.0), make_launch("c", seconds=6.0)]
    assert show(choose_shards(uneven, 10.0)) == [(6.0, "a"), (6.0, "b"), (6.0, "c")]
    assert show(choose_shards(uneven, 12.0)) == [(12.0, "a c"), (6.0, "b")]
    long = [make_launch("a", ("s", 40.0, 40))]
    assert len(choose_shards(long, 10.0)) == 4
    assert len(choose_shards(long, 10.0, splits=False)) == 1
    assert choose_shards([], 10.0) == ()


def test_a_suite_that_is_not_divided_runs_all_of_its_cases() -> None:
    cases = [Case(name, None) for name in "ab"]
    for choice in (PartChoice(), PartChoice({"other": ((1,), 2)}), PartChoice({"s": ((1,), 1)})):
        assert choice.take_cases("s", cases) == (cases, None)
    assert CaseSelection().choice("a.py") == CaseChoice("", (), None, 0)
