"""Fresh trials of trees in which some hunks of a change are reverted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from scoregate.features.interventions.edited_trees.edits import Broken

Tree: TypeAlias = frozenset[int]
"""The hunks that are reverted, by their positions."""
Measure: TypeAlias = Callable[[Tree, Sequence[str], int], Awaitable[Mapping[str, tuple[bool, ...]] | Broken]]
"""Runs cases so often in a tree; returns whether each trial passed."""


class NotDecidedError(Exception):
    """The search ends without an answer."""


class DoesNotRunError(Exception):
    """A tree doesn't run."""

    def __init__(self, tree: Tree, reason: str) -> None:
        super().__init__(reason)
        self.tree = tree


class MeasuredTrees:
    """Runs trials within the budget, and keeps those of each tree."""

    def __init__(self, measure: Measure, budget: int) -> None:
        self._measure, self._left = measure, budget
        self._trials: dict[Tree, dict[str, list[bool]]] = {}
        self._broken: dict[Tree, str] = {}

    async def add(self, tree: Tree, cases: Sequence[str], rounds: int = 1) -> list[tuple[str, bool]]:
        """Run cases, and return each with whether it passed, in the order of rounds.

        Raises:
            NotDecidedError: the budget is too small for them.
            DoesNotRunError: the tree doesn't run.
        """
        if tree in self._broken:
            raise DoesNotRunError(tree, self._broken[tree])
        self._left -= len(cases) * rounds
        if self._left < 0:
            raise NotDecidedError("the budget ends before the trials say which change it is")
        found = await self._measure(tree, cases, rounds)
        if isinstance(found, Broken):
            self._broken[tree] = found.reason
            raise DoesNotRunError(tree, found.reason)
        known = self._trials.setdefault(tree, {})
        for case, trials in found.items():
            known.setdefault(case, []).extend(trials)
        return [(case, trials[at]) for at in range(rounds) for case, trials in found.items() if at < len(trials)]

    async def runs(self, tree: Tree, case: str) -> bool:
        """Whether a tree runs; one trial of a case shows it, unless it ran before."""
        try:
            if tree not in self._trials:
                await self.add(tree, [case])
        except DoesNotRunError:
            return False
        return True

    def list_trials(self, tree: Tree, cases: Iterable[str]) -> list[bool]:
        """All trials of cases in a tree."""
        return [passed for case in cases for passed in self.list_case_trials(tree, case)]

    def list_case_trials(self, tree: Tree, case: str) -> Sequence[bool]:
        """All trials of a case in a tree."""
        return self._trials.get(tree, {}).get(case, ())
