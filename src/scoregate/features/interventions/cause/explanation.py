"""Find which part of a change caused a drop: revert its hunks in copies of the work tree, and run the cases again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import anyio
from anyio import to_thread

from scoregate.errors import ScoregateError
from scoregate.features.interventions.cause.change import Change, read_change
from scoregate.features.interventions.cause.hunks import Hunk, revert_hunks
from scoregate.features.interventions.cause.measured_trees import Tree
from scoregate.features.interventions.cause.search import Cause, NoSingleCause, NotReproduced, Outcome, find_cause
from scoregate.features.interventions.declare import SLOT
from scoregate.features.interventions.edited_trees.edited_runs import STOPPED, Contents, EditedRuns
from scoregate.features.interventions.edited_trees.edits import Broken
from scoregate.features.interventions.edited_trees.tree_copy import open_tree_copy
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.gate.fallen import list_relative_findings
from scoregate.kernel.host import git
from scoregate.kernel.job.fresh_trials import FailingCase
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.steps import Work
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.limit_fields import replays_calls
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import Slot

_MOST_CASES, _FULL_RUNS, _FEWEST_TRIALS, _COPIES = 40, 3, 200, 2
_NOTHING_DIFFERS = "no file that can be reverted differs"


@record
class RevertedLines:
    """A part of the change: the file, and its first and last line, from 1; 0 for a whole file."""

    file: str
    first: int
    last: int


@record
class Explanation:
    """What caused a drop.

    Attributes:
        changes: the parts of the change that caused it together; empty if that is not known.
        reason: why it is not known.
        restored: how many of the cases pass without these parts.
        cases: how many cases were tried: a sample of those that fall again with the change.
        fell: how many cases fell in the run.
        p: the p that a part could be left out, in (0, 1].
        is_only: whether no other part restores them.
        others: parts whose reversal restores them as well.
        breaks_others: whether other cases fail without these parts.
        not_reverted: files that changed too, and can't be reverted here.
        trials: the number of trials that were run.
    """

    changes: tuple[RevertedLines, ...] = ()
    reason: str = ""
    restored: int = 0
    cases: int = 0
    fell: int = 0
    p: float = 1.0
    is_only: bool = False
    others: tuple[RevertedLines, ...] = ()
    breaks_others: bool = False
    not_reverted: tuple[str, ...] = ()
    trials: int = 0


EXPLANATION: Slot[Explanation] = Slot(SLOT, Explanation)
"""In a run: what caused its drop."""


def list_suites(work: Work, judged: Judged) -> frozenset[str]:
    """The suites for which a gate on changes fails, or can't be measured although cases fail newly.

    Forks have no keys to measure more, so they have none.
    """
    comparison, subject = judged.comparison, work.ports.reporting.context.subject
    is_fork = subject is not None and subject.read_only
    if comparison.base is None or is_fork or replays_calls(work.settings):
        return frozenset()
    fallen = {comparison.run.suites[each.suite].label for each in comparison.newly_failing}
    findings = list_relative_findings(judged.verdict, [check for step in judged.steps for check in step.checks])
    wanted = (each.suite for each in findings if each.conclusion is Conclusion.FAILED or each.suite in fallen)
    return frozenset(each for each in wanted if each is not None)


async def explain_drop(
    comparison: Comparison,
    plan: Plan,
    settings: Settings,
    ports: Ports,
    *,
    suites: frozenset[str] | None = None,
    most_trials: int | None = None,
) -> Explanation:
    """Find which hunks of the change since the baseline's commit made cases fail.

    Args:
        comparison: the run and its baseline.
        plan: what ran.
        settings: the settings of the project.
        ports: record further runs.
        suites: the suites whose cases count; None for all.
        most_trials: the most trials that may run; None for three times the cases of the suites, or 200.
    """
    if suites is not None:
        flips = comparison.newly_failing
        kept = tuple(each for each in flips if comparison.run.suites[each.suite].label in suites)
        comparison = replace(comparison, newly_failing=kept)
    fell, controls = _list_fallen(comparison), _list_controls(comparison)
    base = comparison.base.code.commit if comparison.base is not None else None
    if not fell:
        return Explanation(reason="no case fails newly, so single cases can't show the cause")
    if base is None or await git.resolve_commit(ports.root, base) is None:
        return Explanation(reason=f"the baseline's commit is not in this repository ({git.FETCH_ADVICE})")
    try:
        async with open_tree_copy(ports.root, settings) as copy:
            change = await read_change(copy, base, plan, settings, ports, comparison)
        if not change.files:
            return Explanation(reason=_NOTHING_DIFFERS, not_reverted=change.left_out)
        most = most_trials or max(_FEWEST_TRIALS, _FULL_RUNS * _count_cases(comparison.run, fell))
        runs = EditedRuns(plan, settings, ports, planned_from=change.planned_from, installed_from=change.installed_from)
        async with runs.open_copies(_COPIES):
            try:
                await runs.install(change.list_bases(change.installed_from))
            except ScoregateError:  # a package that is not there any more, for example
                change = change.without_packages()
            if not change.files:
                return Explanation(reason=_NOTHING_DIFFERS, not_reverted=change.left_out)
            trees = _RevertedTrees(change, await to_thread.run_sync(change.find_hunks), runs, [*fell, *controls])
            names = list(trees.cases)
            ports.print_line(f"Reverting parts of {number_format.count(len(trees.hunks), 'hunk')} to find the cause.")
            outcome = await find_cause(trees.hunks, names[: len(fell)], names[len(fell) :], trees.measure, most)
    except ScoregateError as error:
        return Explanation(reason=error.message)
    return replace(_describe(outcome, trees, is_stopped=ports.stop.is_set()), fell=len(comparison.newly_failing))


def _describe(outcome: Outcome, trees: _RevertedTrees, *, is_stopped: bool) -> Explanation:
    left_out = tuple(dict.fromkeys(trees.change.left_out))
    if isinstance(outcome, Cause):
        return Explanation(
            tuple(_list_lines(trees.hunks[each] for each in outcome.hunks)),
            restored=outcome.restored,
            cases=outcome.cases,
            p=outcome.p,
            is_only=outcome.is_only,
            others=tuple(_list_lines(trees.hunks[each] for each in outcome.alternative)),
            breaks_others=outcome.breaks_others,
            not_reverted=left_out,
            trials=trees.trials,
        )
    if isinstance(outcome, NoSingleCause):
        reason = "no single change explains it"
    elif is_stopped:
        reason = f"not decided: {STOPPED}"
    elif isinstance(outcome, NotReproduced):
        anyway = "the cases still fail with all of it reverted"
        reason = anyway if outcome.fails_anyway else "in further trials, the cases do not fall again"
    else:
        reason = f"not decided: {outcome.reason}"
    return Explanation(reason=reason, not_reverted=left_out, trials=trees.trials)


def _list_lines(hunks: Iterable[Hunk]) -> Iterator[RevertedLines]:
    yield from (RevertedLines(hunk.path, *hunk.lines) for hunk in hunks)


def _list_fallen(comparison: Comparison) -> list[FailingCase]:
    """The cases that newly fail, by their hashes, so that no result decides which are taken."""
    return sorted(_make_cases(comparison), key=_by_hash)[:_MOST_CASES]


def _make_cases(comparison: Comparison) -> list[FailingCase]:
    sides = [(comparison.run.suites[flip.suite], flip.row) for flip in comparison.newly_failing]
    return [FailingCase.make(suite, suite.columns.hashes[row]) for suite, row in sides]


def _by_hash(case: FailingCase) -> tuple[str, str]:
    return case.case, case.label


def _list_controls(comparison: Comparison) -> list[FailingCase]:
    """As many cases of the same suites that pass."""
    suites = {flip.suite for flip in comparison.newly_failing}
    passed = {
        FailingCase.make(suite, suite.columns.hashes[row])
        for suite in (comparison.run.suites[index] for index in suites)
        for row in range(len(suite.columns))
        if suite.columns.status(row) is Status.PASSED
    }
    fell = set(_make_cases(comparison))
    return sorted(passed - fell, key=_by_hash)[: min(_MOST_CASES, len(fell))]


def _count_cases(run: Run, fell: Sequence[FailingCase]) -> int:
    labels = {case.label for case in fell}
    return sum(len(set(suite.columns.hashes)) for suite in run.suites if suite.label in labels)


@dataclass
class _RevertedTrees:
    """Runs cases in trees of which hunks are reverted."""

    change: Change
    hunks: Sequence[Hunk]
    runs: EditedRuns
    fallen_and_controls: Sequence[FailingCase]
    trials: int = 0
    cases: dict[str, FailingCase] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cases = {str(number): case for number, case in enumerate(self.fallen_and_controls)}

    async def measure(self, tree: Tree, cases: Sequence[str], rounds: int) -> Mapping[str, tuple[bool, ...]] | Broken:
        """Run cases so often, each time in a process of its own."""
        found: dict[str, list[bool]] = {case: [] for case in cases}
        broken = list[str]()
        chosen = {self.cases[name]: name for name in cases}

        async def add_round() -> None:
            outcome = await self.runs.run_once(self._edit(tree), list(chosen))
            if isinstance(outcome, Broken):
                broken.append(outcome.reason)
                return
            self.trials += len(outcome)
            for case, passed in outcome.items():
                found[chosen[case]].append(passed)

        async with anyio.create_task_group() as tasks:
            for _ in range(rounds):
                tasks.start_soon(add_round)
        return Broken(broken[0]) if broken else {case: tuple(trials) for case, trials in found.items()}

    def _edit(self, tree: Tree) -> Contents:
        chosen: dict[str, list[Hunk]] = {}
        for number in sorted(tree):
            hunk = self.hunks[number]
            chosen.setdefault(hunk.path, []).append(hunk)
        heads = {each.path: each.head for each in self.change.files}
        return {path: revert_hunks(heads[path], hunks) for path, hunks in chosen.items()}
