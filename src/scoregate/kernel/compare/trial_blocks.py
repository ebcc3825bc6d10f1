"""The trials that may be exchanged between a run and its baseline: those of a case, or the slots of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import TypeAlias

from scoregate.kernel.compare.statistics.significance import Trials
from scoregate.kernel.types.records import record

Slots: TypeAlias = Mapping[int, float]
"""The values of a case on one side, by slot, see `case_means.number_slots`."""


@record
class Block:
    """The slots of a cluster in which the same cases have a value.

    If nothing changed, these slots can be exchanged between run and baseline. Each case keeps its number of trials on
    both sides. Slots in which other cases have a value are another block: a value that is missing in the run can't be
    missing in the baseline instead.

    Attributes:
        cases: the places of the cases in the cluster.
        new: the values of these cases in each slot of the run.
        baseline: the values of these cases in each slot of the baseline.
    """

    cases: tuple[int, ...]
    new: Sequence[Sequence[float]]
    baseline: Sequence[Sequence[float]]


def group_cases(cases: Iterable[str], clusters: Mapping[str, str]) -> Iterable[list[str]]:
    """The cases of each cluster; a case without a cluster is a cluster of its own.

    Args:
        cases: the cases.
        clusters: the clusters of cases, see `pairing.case_clusters`.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        # a cluster can have the name of a case
        groups.setdefault(("cluster", clusters[case]) if case in clusters else ("case", case), []).append(case)
    return groups.values()


def list_blocks(cases: Sequence[tuple[Slots, Slots]]) -> Iterator[Block]:
    """The blocks of a cluster.

    Args:
        cases: the values of each case in the run and in the baseline, at least one each.
    """
    sides: tuple[dict[tuple[int, ...], list[list[float]]], ...] = ({}, {})
    for blocks, values in zip(sides, zip(*cases, strict=True), strict=True):
        cases_of_slots: dict[int, list[int]] = {}
        for index, slots in enumerate(values):
            for slot in slots:
                cases_of_slots.setdefault(slot, []).append(index)
        for slot, present in cases_of_slots.items():
            blocks.setdefault(tuple(present), []).append([values[index][slot] for index in present])
    new, baseline = sides
    for key in dict.fromkeys((*new, *baseline)):
        yield Block(key, new.get(key, ()), baseline.get(key, ()))


def sum_blocks(trials: Mapping[str, tuple[Slots, Slots]], clusters: Mapping[str, str]) -> Iterator[Trials]:
    """The trials for `significance.within_case_test`: the values of a case, or the weighted sums of a cluster's slots.

    Args:
        trials: the values of each case in the run and in the baseline, at least one each.
        clusters: the clusters of cases.
    """
    for members in group_cases(trials, clusters):
        cases = [trials[case] for case in members]
        if len(cases) == 1:
            ((new, baseline),) = cases
            yield list(new.values()), list(baseline.values())
            continue
        for block in list_blocks(cases):
            if block.new and block.baseline:  # slots of one side only have nothing to be exchanged with
                yield _sum_slots(block, [(len(new), len(baseline)) for new, baseline in cases])


def _sum_slots(block: Block, counts: Sequence[tuple[int, int]]) -> Trials:
    """The sum of each slot, such that the difference of means changes as the sum of the cases' differences does.

    A value v that moves from the baseline to the run changes the difference of a case with a and b trials by
    v·(1/a + 1/b). Among k and l slots, a sum changes the difference of means by (1/k + 1/l).
    """
    slots = len(block.new), len(block.baseline)
    weights = [_weigh(*counts[index]) / _weigh(*slots) if counts[index] != slots else 1.0 for index in block.cases]

    def add(values: Sequence[float]) -> float:
        return fsum(value * weight for value, weight in zip(values, weights, strict=True))

    return [add(values) for values in block.new], [add(values) for values in block.baseline]


def _weigh(new: int, baseline: int) -> float:
    return 1 / new + 1 / baseline
