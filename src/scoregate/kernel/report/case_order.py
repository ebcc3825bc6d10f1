"""The order of cases in reports: those of failed gates first, then suites or evaluators in turn."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Set
from dataclasses import field
from itertools import groupby
from typing import TypeVar

from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.records import record

_T = TypeVar("_T")


@record
class FailedGates:
    """The evaluators whose gates failed, by the label of their suite; None for a gate on the whole suite."""

    evaluators: Mapping[str, Set[str | None]] = field(default_factory=dict)

    @classmethod
    def from_findings(cls, findings: Iterable[Finding]) -> FailedGates:
        """Those of a verdict."""
        failed = defaultdict[str, set[str | None]](set)
        for each in findings:
            if each.conclusion is Conclusion.FAILED and each.suite is not None:
                failed[each.suite].add(each.evaluator)
        return cls(failed)

    def rank(self, suite: str, evaluators: Collection[str]) -> int:
        """The place of a case: 0 if a failed gate is on one of its scores, 1 if it is on its suite's others, else 2.

        Args:
            suite: the label of its suite.
            evaluators: those whose scores are listed.
        """
        failed = self.evaluators.get(suite, frozenset())
        if None in failed or not failed.isdisjoint(evaluators):
            return 0
        return 1 if failed else 2


NO_FAILED_GATES = FailedGates()


def take_in_turn(
    items: Iterable[_T], group_of: Callable[[_T], Hashable], rank_of: Callable[[_T], int] = lambda _: 0
) -> list[_T]:
    """The first item of each group, then the second of each, so that no group fills a list alone.

    Args:
        items: the items, ordered by rank.
        group_of: the group of an item.
        rank_of: its rank; those with one rank are listed before those with the next.
    """
    return [each for _, ranked in groupby(items, key=rank_of) for each in _interleave(ranked, group_of)]


def _interleave(items: Iterable[_T], group_of: Callable[[_T], Hashable]) -> list[_T]:
    counts = Counter[Hashable]()
    turns: dict[int, list[_T]] = {}
    for each in items:
        turns.setdefault(counts[group_of(each)], []).append(each)
        counts[group_of(each)] += 1
    return [each for turn in sorted(turns) for each in turns[turn]]
