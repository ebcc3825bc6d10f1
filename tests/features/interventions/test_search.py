"""The search names the hunks that broke cases, by fresh trials of trees in which hunks are reverted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import pytest

from scoregate.features.interventions.cause.hunks import Hunk
from scoregate.features.interventions.cause.measured_trees import Tree
from scoregate.features.interventions.cause.search import (
    Cause,
    NoSingleCause,
    NotReproduced,
    Outcome,
    Undecided,
    find_cause,
)
from scoregate.features.interventions.edited_trees.edits import Broken

HUNKS = 8
FELL = [f"fell-{number}" for number in range(20)]
CONTROLS = [f"control-{number}" for number in range(20)]
ALL = 10_000


class Trees:
    """Trees whose cases pass by a rule, and that run by another one."""

    def __init__(
        self,
        passes: Callable[[Tree, str], bool],
        runs: Callable[[Tree], bool] = lambda _: True,
        hunks: int = HUNKS,
    ) -> None:
        self.hunks = [Hunk(f"{number // 3}.md", (number, number)) for number in range(hunks)]
        self.passes, self.runs, self.spent = passes, runs, 0
        self.measured = list[Tree]()

    async def measure(self, tree: Tree, cases: Sequence[str], rounds: int) -> Mapping[str, tuple[bool, ...]] | Broken:
        self.spent += len(cases) * rounds
        self.measured.append(tree)
        if not self.runs(tree):
            return Broken("NameError: name 'refund' is not defined")
        return {case: (case in CONTROLS or self.passes(tree, case),) * rounds for case in cases}

    def search(self, budget: int = ALL) -> Outcome:
        return asyncio.run(find_cause(self.hunks, FELL, CONTROLS, self.measure, budget))


def only_cause(*hunks: int, restored: int = 12) -> Cause:
    """What is expected, with any p."""
    return Cause(hunks, restored, 12, 0.0, is_only=True)


def without_p(outcome: Outcome) -> Outcome:
    assert isinstance(outcome, Cause), outcome
    assert 0 < outcome.p <= 0.05
    return Cause(
        outcome.hunks, outcome.restored, outcome.cases, 0.0, outcome.is_only, outcome.alternative, outcome.breaks_others
    )


@pytest.mark.parametrize("guilty", range(HUNKS))
def test_one_guilty_hunk(guilty: int) -> None:
    assert without_p(Trees(lambda tree, _: guilty in tree).search()) == only_cause(guilty)


@pytest.mark.parametrize("hunks", [1, 2, 3])
def test_a_change_with_few_hunks(hunks: int) -> None:
    assert without_p(Trees(lambda tree, _: 0 in tree, hunks=hunks).search()) == only_cause(0)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (2, 3), (0, 7), (4, 6)])
def test_two_hunks_of_which_each_breaks_all_cases(first: int, second: int) -> None:
    assert without_p(Trees(lambda tree, _: {first, second} <= tree).search()) == only_cause(first, second)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (2, 3), (0, 7), (4, 6)])
def test_two_hunks_of_which_each_breaks_some_cases(first: int, second: int) -> None:
    trees = Trees(lambda tree, case: (first if int(case[-1]) % 2 else second) in tree)
    assert without_p(trees.search()) == only_cause(first, second)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (2, 3), (0, 7), (4, 6)])
def test_two_hunks_that_only_together_break_cases_are_alternatives(first: int, second: int) -> None:
    found = without_p(Trees(lambda tree, _: bool({first, second} & tree)).search())
    assert isinstance(found, Cause)
    assert {found.hunks, found.alternative} == {(first,), (second,)}
    assert not found.is_only


def test_four_hunks_that_must_all_be_reverted_are_no_single_cause() -> None:
    assert Trees(lambda tree, _: {0, 2, 5, 7} <= tree).search() == NoSingleCause()


@pytest.mark.parametrize("needed", [1, 3, 7])
def test_a_guilty_hunk_is_grouped_with_what_it_needs_to_run(needed: int) -> None:
    trees = Trees(lambda tree, _: 2 in tree, runs=lambda tree: 2 not in tree or needed in tree)
    assert without_p(trees.search()) == only_cause(*sorted((2, needed)))


def test_a_guilty_hunk_needs_two_others() -> None:
    trees = Trees(lambda tree, _: 0 in tree, runs=lambda tree: 0 not in tree or {4, 7} <= tree)
    assert without_p(trees.search()) == only_cause(0, 4, 7)


def test_hunks_that_need_each_other_do_not_hide_the_guilty_one() -> None:
    trees = Trees(lambda tree, _: 3 in tree, runs=lambda tree: (1 in tree) == (6 in tree))
    assert without_p(trees.search()) == only_cause(3)


def test_a_guilty_hunk_is_not_grouped_with_what_others_need() -> None:
    trees = Trees(
        lambda tree, _: 0 in tree,
        runs=lambda tree: (0 not in tree or 4 in tree) and (3 not in tree or 7 in tree),
    )
    assert without_p(trees.search()) == only_cause(0, 4)


def test_a_guilty_hunk_that_others_need_is_named_alone() -> None:
    trees = Trees(lambda tree, _: 2 in tree, runs=lambda tree: 6 not in tree or 2 in tree)
    assert without_p(trees.search()) == only_cause(2)


def test_trees_that_never_run_in_parts_leave_it_open() -> None:
    trees = Trees(lambda tree, _: 2 in tree, runs=lambda tree: len(tree) in (0, HUNKS))
    assert without_p(trees.search()) == only_cause(*range(HUNKS))


@pytest.mark.parametrize(("tree", "side"), [(Tree(), "with the change"), (Tree(range(HUNKS)), "without the change")])
def test_a_side_that_does_not_run(tree: Tree, side: str) -> None:
    found = Trees(lambda tree, _: 2 in tree, runs=lambda each: each != tree).search()
    assert found == Undecided(f"the cases don't run {side}: NameError: name 'refund' is not defined")


@pytest.mark.parametrize("passes", [True, False])
def test_cases_that_fell_by_chance_or_for_another_reason(passes: bool) -> None:
    trees = Trees(lambda *_: passes)
    assert trees.search() == NotReproduced(fails_anyway=not passes)
    assert trees.spent <= 2 * len(FELL)


def test_cases_that_pass_more_often_without_the_change_do_not_fail_anyway() -> None:
    trees, head, base = Trees(lambda *_: True), iter([False, False, True]), iter([True, False, True])
    trees.passes = lambda tree, _: next(base if tree else head)
    found = asyncio.run(find_cause(trees.hunks, FELL[:1], [], trees.measure, ALL))
    assert found == NotReproduced(fails_anyway=False)


def test_trials_that_contradict_each_other_end() -> None:
    """Any reversal restores the cases by its first trials, and then none does."""
    trees = Trees(lambda *_: False)
    trees.passes = lambda tree, _: bool(tree) and trees.measured.count(tree) == 1
    assert isinstance(trees.search(), Undecided)


def test_a_measure_without_trials_ends_with_the_budget() -> None:
    trees = Trees(lambda tree, _: 4 in tree)

    async def measure(tree: Tree, cases: Sequence[str], rounds: int) -> Mapping[str, tuple[bool, ...]] | Broken:
        found = await trees.measure(tree, cases, rounds)
        return found if len(trees.measured) <= 4 else {}

    found = asyncio.run(find_cause(trees.hunks, FELL, CONTROLS, measure, 500))
    assert found == Undecided("the budget ends before the trials say which change it is")


def test_without_cases_nothing_runs() -> None:
    trees = Trees(lambda *_: True)
    assert asyncio.run(find_cause(trees.hunks, [], [], trees.measure, ALL)) == NotReproduced()
    assert trees.measured == []


def test_a_reversal_that_breaks_other_cases() -> None:
    trees = Trees(lambda tree, _: 4 in tree)

    async def measure(tree: Tree, cases: Sequence[str], rounds: int) -> Mapping[str, tuple[bool, ...]] | Broken:
        found = await trees.measure(tree, cases, rounds)
        assert not isinstance(found, Broken)
        return {case: (False,) * rounds if case in CONTROLS and 4 in tree else each for case, each in found.items()}

    found = asyncio.run(find_cause(trees.hunks, FELL, CONTROLS, measure, ALL))
    assert isinstance(found, Cause)
    assert (found.hunks, found.breaks_others) == ((4,), True)


def test_trials_of_the_search_do_not_confirm_its_result() -> None:
    """Reverting hunk 3 restores the cases until the search has found it, and never again."""
    trees = Trees(lambda *_: False)
    trees.passes = lambda tree, _: tree == Tree(range(HUNKS)) or (3 in tree and trees.measured.count(Tree({3})) <= 2)
    assert trees.search() == Undecided("further trials don't confirm what the first ones say")


def test_the_budget_ends_at_once() -> None:
    trees = Trees(lambda tree, _: 4 in tree)
    assert trees.search(budget=0) == Undecided("the budget ends before the trials say which change it is")
    assert trees.measured == []


@pytest.mark.parametrize("passes", [lambda tree, _: 4 in tree, lambda tree, _: {2, 4} <= tree])
def test_the_budget_is_kept_and_a_confirmed_cause_is_not_lost(passes: Callable[[Tree, str], bool]) -> None:
    whole = Trees(passes)
    cause = whole.search()
    assert isinstance(cause, Cause)
    found = dict[int, Outcome]()
    for budget in range(0, whole.spent + 1, 3):
        trees = Trees(passes)
        found[budget] = trees.search(budget)
        assert trees.spent <= budget
    causes = [each for each in found.values() if isinstance(each, Cause)]
    assert {each.hunks for each in causes} == {cause.hunks}
    assert not causes[0].is_only
    assert not isinstance(found[60], Cause)


@pytest.mark.parametrize("guilty", [0, 137, 499])
def test_five_hundred_hunks(guilty: int) -> None:
    trees = Trees(lambda tree, _: guilty in tree, hunks=500)
    assert without_p(trees.search()) == only_cause(guilty)
    assert trees.spent < 200
