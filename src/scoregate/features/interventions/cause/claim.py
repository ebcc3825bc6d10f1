"""The claim that a set of hunks explains a drop, tested with trials that were not used to find it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from scoregate.features.interventions.cause.measured_trees import MeasuredTrees, Tree
from scoregate.kernel.types.runs.confirmations import fisher_p

LEVEL = 0.05
"""How often an innocent hunk may be accused."""
MOST_FAILED = 2
"""How many claims may fail; each is corrected for."""
_FEWEST_TRIALS = 6
# Rounds until each look at the trials.
_LOOKS = (1, 1, 2)
# A unit is given up if its p is larger than this at a look.
_HOPELESS = 0.5


class Claim:
    """Tests of trees with trials of their own.

    `cases` are those that fall again.
    """

    def __init__(self, trees: MeasuredTrees, cases: Sequence[str]) -> None:
        self._trees, self._cases = trees, cases
        self._trials: dict[Tree, list[tuple[str, bool]]] = {}

    async def test(self, start: Tree, units: Sequence[Tree], cases: Sequence[str]) -> tuple[Sequence[Tree], float]:
        """The units without which `start` and all of them restore less, and the largest p.

        If all units pass, they are the claim. An innocent one passes at most as often as the level says, so the number
        of units needs no correction. That of the looks at the trials and of the claims does.
        """
        chosen, correction, needed = start.union(*units), len(_LOOKS) * MOST_FAILED, dict[Tree, float]()
        unclear = units
        for rounds in _LOOKS:
            for tree in (chosen, *(chosen - unit for unit in unclear)):
                await self._add(tree, cases, rounds * ceil(_FEWEST_TRIALS / len(cases)))
            ps = {unit: self._compare(chosen - unit, chosen, cases) for unit in unclear}
            needed |= {unit: p * correction for unit, p in ps.items() if p * correction <= LEVEL}
            unclear = [unit for unit, p in ps.items() if unit not in needed and p <= _HOPELESS]
            if not unclear:
                break
        return [unit for unit in units if unit in needed], max(needed.values(), default=1.0)

    async def count_restored(self, tree: Tree) -> int:
        """How many cases pass in more than half of their trials."""
        await self._complete(tree)
        trials = [[passed for each, passed in self._trials[tree] if each == case] for case in self._cases]
        return sum(2 * sum(each) > len(each) for each in trials)

    async def is_only(self, chosen: Tree, others: Tree, head: Sequence[tuple[str, bool]]) -> bool:
        """Whether other hunks restore less than the set, and not visibly more than none.

        `head` are further trials of the head, which the search has used.
        """
        self._trials.setdefault(Tree(), []).extend(head)
        for tree in (chosen, others, Tree()):
            await self._complete(tree)
        is_less = self._compare(others, chosen, self._cases) <= LEVEL
        return is_less and self._compare(Tree(), others, self._cases) > 2 * LEVEL

    def _compare(self, worse: Tree, better: Tree, cases: Sequence[str]) -> float:
        """The p that cases don't fail more often in a tree than in another one."""
        first, second = ([passed for case, passed in self._trials[tree] if case in cases] for tree in (worse, better))
        return fisher_p(first, second)

    async def _complete(self, tree: Tree) -> None:
        """Run the cases that were not run in a tree."""
        known = {case for case, _ in self._trials.get(tree, ())}
        if cases := [case for case in self._cases if case not in known]:
            await self._add(tree, cases, 1)

    async def _add(self, tree: Tree, cases: Sequence[str], rounds: int) -> None:
        self._trials.setdefault(tree, []).extend(await self._trees.add(tree, cases, rounds))
