"""Finds the smallest set of hunks whose reversal restores the cases that fell, with fresh trials."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from math import ceil, log
from typing import TypeAlias

from scoregate.features.interventions.cause.claim import LEVEL, MOST_FAILED, Claim
from scoregate.features.interventions.cause.hunks import Hunk
from scoregate.features.interventions.cause.measured_trees import (
    DoesNotRunError,
    Measure,
    MeasuredTrees,
    NotDecidedError,
    Tree,
)
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.confirmations import fisher_p

MOST_UNITS = 3
"""How many hunks, or groups of hunks that only run together, a cause has at most."""
_MOST_MERGES = 8
# Up to this p the drop may be real, although the level isn't reached.
_HINT = 0.2
# The first trials, which find the cases that fall again: a batch, the cases that are enough, rounds.
_SAMPLE, _ENOUGH, _MOST_ROUNDS = 12, 7.5, 3
# A reversal restores cases if their trials are this much likelier if it restores this part of them, rather than the
# rest. If it restores half of them, it counts as either.
_CERTAINTY, _PART, _BATCH, _MOST_TRIALS = log(30), 0.75, 6, 30
# It does not restore a case whose trials are this much likelier if it doesn't.
_CASE_CERTAINTY, _CASE_ROUNDS = log(10), 4
# Another cause is looked for if this part of the cases is left.
_LEFT = 1 / 8
_UNCONFIRMED = "further trials don't confirm what the first ones say"
_Predicate: TypeAlias = Callable[[Tree], Awaitable[bool]]


@record
class Cause:
    """The smallest set of hunks that explains the drop.

    Attributes:
        hunks: their positions.
        restored: how many of the cases pass in more than half of their trials with these hunks reverted.
        cases: how many cases were tried: those that fell, and fail again in the head but not in the base.
        p: that a hunk of them could be left out, by the trials of the claim; corrected, at most 5 %.
        is_only: whether no other hunks restore cases.
        alternative: other hunks whose reversal restores the cases as well, since only together they break them.
        breaks_others: whether the reversal breaks cases that did not fall.
    """

    hunks: tuple[int, ...]
    restored: int
    cases: int
    p: float
    is_only: bool
    alternative: tuple[int, ...] = ()
    breaks_others: bool = False


@record
class NoSingleCause:
    """The drop is real, and more than three hunks are needed to explain it."""


@record
class NotReproduced:
    """The cases don't fall in fresh trials, compared with the tree in which everything is reverted.

    Attributes:
        fails_anyway: whether they fail in both.
    """

    fails_anyway: bool = False


@record
class Undecided:
    """The trials don't say which hunks it is."""

    reason: str


Outcome: TypeAlias = Cause | NoSingleCause | NotReproduced | Undecided


class _TooManyError(Exception):
    """A smallest set has too many members."""


async def find_cause(
    hunks: Sequence[Hunk], fell: Sequence[str], controls: Sequence[str], measure: Measure, budget: int
) -> Outcome:
    """Revert hunks until the smallest set that restores the cases is known.

    Args:
        hunks: of the change, those of a file next to each other.
        fell: the cases that newly fail. They were chosen because they failed, so only fresh trials count.
        controls: cases that did not fall.
        measure: runs cases in the tree in which some hunks are reverted.
        budget: the most trials that it may run.
    """
    search = _Search(hunks, fell, controls, MeasuredTrees(measure, budget))
    try:
        return await search.run()
    except NotDecidedError as error:
        return Undecided(str(error))
    except DoesNotRunError as error:
        side = "without the change" if error.tree else "with the change"
        return Undecided(f"the cases don't run {side}: {error}")
    except _TooManyError:
        return Undecided(_UNCONFIRMED) if search.failed else NoSingleCause()


class _Search:
    """The state of a search.

    `units` are hunks, or groups of hunks that only run together; `good` are cases that fall again.
    """

    def __init__(
        self, hunks: Sequence[Hunk], fell: Sequence[str], controls: Sequence[str], trees: MeasuredTrees
    ) -> None:
        source = random.Random(0)  # neighbours may be alike
        self.fell, self.controls = (source.sample(cases, len(cases)) for cases in (fell, controls))
        self.paths, self.trees = [hunk.path for hunk in hunks], trees
        self.units = [Tree({at}) for at in range(len(hunks))]
        self.head, self.base, self.good = Tree(), Tree(range(len(hunks))), list[str]()
        self.certainty, self.gain, self.loss, self.case_gain, self.flips = _CERTAINTY, 0.0, 0.0, 0.0, 0.0
        self.head_again = list[tuple[str, bool]]()
        self.failed = self.merges = 0

    async def run(self) -> Outcome:
        """Find a set of units that restores most cases and claim it; then one for the rest, and so on."""
        if not self.fell or not await self._is_reproduced():
            sides = (self.trees.list_trials(tree, self.fell) for tree in (self.head, self.base))
            return NotReproduced(all(2 * trials.count(False) > len(trials) for trials in sides))
        chosen, cases, p, claim = self.head, self.good, 0.0, Claim(self.trees, self.good)
        while not chosen or len(cases) > _LEFT * len(self.good):
            try:
                next_claim, found, found_p = await self._find_next(chosen, cases)
                if not found:
                    break
                claim, chosen, p = next_claim, chosen.union(*found), max(p, found_p)
                cases = await self._list_unrestored(chosen, cases)
            except (_TooManyError, NotDecidedError):
                if not chosen:
                    raise
                break
        return await self._describe(chosen, p, claim)

    async def _is_reproduced(self) -> bool:
        """Whether cases fall again, compared with the tree in which everything is reverted."""
        for _ in range(_MOST_ROUNDS):
            for first in range(0, len(self.fell), _SAMPLE):
                for tree in (self.head, self.base):
                    await self.trees.add(tree, self.fell[first : first + _SAMPLE])
                head, base = (self.trees.list_trials(tree, self.fell) for tree in (self.head, self.base))
                is_fallen, self.good = fisher_p(head, base) <= LEVEL, self._list_good()
                real = self._weigh_trials(head, base)
                if is_fallen and real * len(self.good) >= _ENOUGH:
                    return True
                if len(head) >= min(5 * _SAMPLE, len(self.fell)) and head.count(False) <= base.count(False):
                    return False
            if is_fallen and self.good:
                return True
        if fisher_p(head, base) <= _HINT:
            raise NotDecidedError("the cases fall too seldom in fresh trials")
        return False

    def _list_good(self) -> list[str]:
        """The cases of which at least half of the trials pass in the base, beyond those that pass in the head."""
        shares = dict[str, float]()
        for case in self.fell:
            head, base = (self.trees.list_case_trials(tree, case) for tree in (self.head, self.base))
            if head and base:
                shares[case] = base.count(True) / len(base) - head.count(True) / len(head)
        return [case for case, share in shares.items() if share >= 0.5]

    def _weigh_trials(self, head: Sequence[bool], base: Sequence[bool]) -> float:
        """Set what a passed and a failed trial of a good case say for a restored drop, as logarithms.

        Some good cases fell by chance, twice. The share of the others, which is returned, comes from how often all
        cases fail in the head. The model is rough: it only decides what is tried next.
        """
        flips = min(0.45, (base.count(False) + 1) / (len(base) + 2))
        failed = (head.count(False) + 1) / (len(head) + 2)
        real = min(1.0, max(0.1, (failed - flips) / (1 - 2 * flips)))
        chance = (1 - real) * flips / (real * (1 - flips) + (1 - real) * flips)
        self._set_weights(flips, chance * (1 - flips) + (1 - chance) * flips)
        return 1 - chance

    def _set_weights(self, flips: float, passes: float) -> None:
        """Set the weights for how often good cases fail in the base, and pass in the head."""
        mostly, hardly = (passes + part * (1 - flips - passes) for part in (_PART, 1 - _PART))
        self.gain, self.loss = log(mostly / hardly), log((1 - mostly) / (1 - hardly))
        self.flips, self.case_gain = flips, log((1 - flips) / flips)

    async def _measure_head_again(self) -> None:
        """Learn how often good cases pass in the head; they were chosen because they failed there."""
        self.head_again = await self.trees.add(self.head, self.good)
        passed = sum(passed for _, passed in self.head_again)
        self._set_weights(self.flips, min(0.9 - self.flips, (passed + 0.5) / (len(self.head_again) + 1)))

    async def _find_next(self, chosen: Tree, cases: Sequence[str]) -> tuple[Claim, Sequence[Tree], float]:
        """The claim of the smallest set that restores cases together with `chosen`, which doesn't; the set, and its p.

        The set is empty if there is none beyond the one that is chosen.

        Raises:
            NotDecidedError: too many claims fail.
        """
        restores = partial(self._restores, cases=cases)
        while self.failed < MOST_FAILED:
            units = [unit for unit in self.units if not unit <= chosen]
            most = MOST_UNITS - (len(self.units) - len(units))
            try:
                found = await self._pick(units, chosen, restores, partial(restores, in_doubt=True), most)
                left = await self._list_unrestored(chosen.union(*found), cases)
                claim, confirmed, p = await self._confirm(chosen, found, [case for case in cases if case not in left])
                if confirmed or chosen:  # claims that fail are left for an alternative
                    return claim, confirmed, p
                self.certainty *= 2
            except DoesNotRunError as error:
                await self._merge(error)
        raise NotDecidedError(_UNCONFIRMED)

    async def _restores(self, tree: Tree, cases: Sequence[str], *, in_doubt: bool | None = None) -> bool:
        """Whether a reversal restores cases, by few trials if they are clear; if none are, `in_doubt`, or the odds."""
        while True:
            trials = self.trees.list_trials(tree, cases)
            score = trials.count(True) * self.gain + trials.count(False) * self.loss
            if abs(score) >= self.certainty:
                return score > 0
            if len(trials) >= 2 * _BATCH and not self.head_again:
                await self._measure_head_again()
                continue
            if len(trials) >= _MOST_TRIALS:
                return score > 0 if in_doubt is None else in_doubt
            chosen = sorted(cases, key=lambda case: len(self.trees.list_case_trials(tree, case)))[:_BATCH]
            await self.trees.add(tree, chosen, ceil(_BATCH / len(chosen)))

    async def _list_unrestored(self, tree: Tree, cases: Sequence[str]) -> list[str]:
        """The cases that a reversal does not restore: they fail, and fail again."""
        if unknown := [case for case in cases if not self.trees.list_case_trials(tree, case)]:
            await self.trees.add(tree, unknown)
        for _ in range(_CASE_ROUNDS):
            trials = {case: self.trees.list_case_trials(tree, case) for case in cases}
            leads = {case: each.count(False) - each.count(True) for case, each in trials.items()}
            unclear = [case for case, lead in leads.items() if 0 < lead * self.case_gain < _CASE_CERTAINTY]
            if not unclear:
                break
            await self.trees.add(tree, unclear)
        return [case for case, lead in leads.items() if lead > 0]

    async def _pick(
        self, units: Sequence[Tree], start: Tree, is_enough: _Predicate, suffices: _Predicate, most: int
    ) -> list[Tree]:
        """The smallest set of units that suffices with `start`, which doesn't; all of them are enough.

        Of the units in their order, the last one of the shortest row that is enough belongs to the set. The search
        goes on before it, until those that belong to the set suffice. Halves come first.

        Source: Junker (2004), QuickXplain, AAAI 2004:167.
        """
        found, chosen = list[Tree](), start
        while not found or not await suffices(chosen):
            if len(found) == most:
                raise _TooManyError
            if not units:
                raise NotDecidedError("the trials contradict each other")
            low, high = 0, len(units)
            while high - low > 1:
                middle = self._split(units, low, high)
                if await is_enough(chosen.union(*units[:middle])):
                    high = middle
                else:
                    low = middle
            found.append(units[high - 1])
            chosen, units = chosen | units[high - 1], units[: high - 1]
        return found

    def _split(self, units: Sequence[Tree], low: int, high: int) -> int:
        """The place between two files that is closest to the middle; within a file the middle."""
        paths = [self.paths[min(unit)] for unit in units[low:high]]
        places = [at for at in range(1, high - low) if paths[at] != paths[at - 1]] or range(1, high - low)
        return low + min(places, key=lambda at: abs(2 * at - (high - low)))

    async def _merge(self, error: DoesNotRunError) -> None:
        """Make one unit of a hunk with which a tree doesn't run, and of what it needs, in its own file first."""
        self.merges += 1
        inside = await self._find_broken_row([unit for unit in self.units if unit <= error.tree])
        if not inside or error.tree == self.base or self.merges > _MOST_MERGES:
            raise NotDecidedError(f"the cases don't run if parts of the change are reverted: {error}")
        unit = inside[-1]
        others = [each for each in self.units if each not in inside]
        others.sort(key=lambda each: self.paths[min(each)] != self.paths[min(unit)])
        row = Tree().union(*inside)
        needed = await self._pick(others, row, self._runs, self._runs, len(others))
        for each in tuple(needed):  # others may have needed it while the set was looked for
            rest = [other for other in needed if other != each]
            needed = rest if await self._runs(row.union(*rest)) else needed
        merged = {unit: unit.union(*needed)}
        self.units = [merged.get(each, each) for each in self.units if each not in needed]

    async def _find_broken_row(self, units: Sequence[Tree]) -> Sequence[Tree]:
        """The shortest row of the first units with which the tree doesn't run, which it doesn't with all of them."""
        low, high = 0, len(units)
        while high - low > 1:
            middle = (low + high) // 2
            if await self._runs(Tree().union(*units[:middle])):
                low = middle
            else:
                high = middle
        return units[:high]

    async def _runs(self, tree: Tree) -> bool:
        return await self.trees.runs(tree, self.good[0])

    async def _confirm(
        self, chosen: Tree, units: Sequence[Tree], cases: Sequence[str]
    ) -> tuple[Claim, Sequence[Tree], float]:
        """Units of which none can be left out, and the p. Those that can be are dropped, and the others tried again."""
        while units and self.failed < MOST_FAILED:
            claim = Claim(self.trees, self.good)
            needed, p = await claim.test(chosen, units, cases) if cases else ((), 1.0)
            if len(needed) == len(units):
                return claim, units, p
            self.failed += 1
            units = needed
        return Claim(self.trees, self.good), (), 1.0

    async def _describe(self, chosen: Tree, p: float, claim: Claim) -> Cause:
        """The cause with what else is known of it, as far as the budget goes."""
        restored, is_only, breaks_others, alternative = 0, False, False, Tree()
        try:
            restored = await claim.count_restored(chosen)
            others = await self._find_running(self.base - chosen)
            is_only = await claim.is_only(chosen, others, self.head_again)
            if not is_only:
                alternative = await self._find_alternative(others)
            breaks_others = await self._breaks_others(chosen)
        except (NotDecidedError, DoesNotRunError, _TooManyError):
            pass  # the cause is certain, and the rest stays open
        hunks, others_too = tuple(sorted(chosen)), tuple(sorted(alternative))
        return Cause(hunks, restored, len(self.good), p, is_only, others_too, breaks_others)

    async def _find_running(self, tree: Tree) -> Tree:
        """The tree, without hunks that need others to run."""
        units = [unit for unit in self.units if unit <= tree]
        while units and not await self._runs(Tree().union(*units)):
            broken = (await self._find_broken_row(units))[-1]
            units = [unit for unit in units if unit != broken]
        return Tree().union(*units)

    async def _find_alternative(self, others: Tree) -> Tree:
        """The smallest set of other hunks that restores the cases as well; empty if all of them don't."""
        restores = partial(self._restores, cases=self.good)
        if not await restores(others):
            return Tree()
        units = [unit for unit in self.units if unit <= others]
        found = await self._pick(units, self.head, restores, restores, MOST_UNITS)
        _, confirmed, _ = await self._confirm(self.head, found, self.good)
        return Tree().union(*confirmed)

    async def _breaks_others(self, chosen: Tree) -> bool:
        """Whether the reversal breaks cases that did not fall."""
        if not (cases := self.controls[:_BATCH]):
            return False
        after, before = [await self.trees.add(tree, cases) for tree in (chosen, self.head)]
        return fisher_p([passed for _, passed in after], [passed for _, passed in before]) <= LEVEL
