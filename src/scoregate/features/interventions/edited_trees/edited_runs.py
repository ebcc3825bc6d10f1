"""Runs of suites in copies of the work tree, with edits or without."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
from anyio import to_thread

from scoregate.errors import GitError, InstallError, ScoregateError
from scoregate.features.interventions.edited_trees.edits import Broken
from scoregate.features.interventions.edited_trees.tree_copy import TreeCopy, open_tree_copy
from scoregate.kernel.gate.run_rules import find_script_failures
from scoregate.kernel.job.fresh_trials import FailingCase, group_cases
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import Plan, make_plan, restrict_plan
from scoregate.kernel.run.tree_settings import merge_suite_gates
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.run import Run

Contents = Mapping[str, bytes | None]
"""The new contents of files, by path; None for one that is removed."""
UNEDITED: Contents = {}
STOPPED = "the command was stopped"
_WITHOUT_RESULT = {
    *("APIConnectionError", "APITimeoutError", "RateLimitError", "InternalServerError", "ServiceUnavailableError"),
    *("OverloadedError", "ConnectError", "ConnectTimeout", "ReadTimeout", "ReadError", "BudgetSpent"),
}
"""The names of errors that say nothing about the edit: the provider did not answer."""
_MOST_ENVIRONMENTS = 8
_MOST_GAPS = 0.1
"""The share of trials without an answer from which on a run says nothing."""


@dataclass
class Spent:
    """What runs have asked of models, with what they read from the cache left out.

    Attributes:
        calls: the number of calls that scoregate counted.
        dollars: their cost, as far as prices are known.
        unpriced: the number of calls whose price is unknown.
    """

    calls: int = 0
    dollars: float = 0.0
    unpriced: int = 0

    def add(self, run: Run) -> None:
        """Add the calls of a run."""
        for each in run.model_calls:
            self.calls += each.calls - each.cached - each.replayed
            self.dollars += each.cost
            self.unpriced += each.unpriced
        if run.model_calls:
            return  # the gateway saw the calls of each trial, too
        for usage in _list_usages(run):
            asked = usage.calls - (usage.calls if usage.cached else usage.stored)
            self.calls += asked
            self.unpriced += asked if usage.cost is None or usage.unpriced else 0
            self.dollars += 0.0 if usage.cached else usage.cost or 0.0


def _list_usages(run: Run) -> Iterator[Usage]:
    for case in run.read() if run.read is not None else ():
        usages = [case.usage, *(each.usage for each in case.evaluations.values())]
        usages += [each.usage for each in case.labels.values()]
        usages += [each.usage for each in case.errors]
        yield from (each for each in usages if each is not None)


@record
class _Workplace:
    """A copy, the plan that runs its suites, and what deletes it."""

    number: int
    copy: TreeCopy
    plan: Plan
    stack: AsyncExitStack
    problem: str = ""


@record
class _Environment:
    """The Python that runs suites, and the project in the tree that it was made from; None for the user's own."""

    interpreter: Interpreter
    tree: Path | None = None


@dataclass
class EditedRuns:
    """Runs suites in copies of the work tree. Each copy holds one edit at a time.

    Attributes:
        plan: the plan of the project.
        settings: its settings.
        ports: record the runs.
        spent: what the runs have asked of models.
        timeout_s: how long a script may take; None for the time of the settings.
        state: the state of the work tree that is measured; empty before the first copy.
        planned_from: the files that decide what runs: if one of them is edited, its copy has a plan of its own.
        installed_from: the files from which the environment of the suites is made: the same with its interpreter.
    """

    plan: Plan
    settings: Settings
    ports: Ports
    spent: Spent = field(default_factory=Spent)
    timeout_s: float | None = None
    state: str = ""
    planned_from: frozenset[str] = frozenset()
    installed_from: frozenset[str] = frozenset()

    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _free: list[_Workplace] = field(default_factory=list)
    _limit: anyio.Semaphore | None = None
    _made: dict[frozenset[tuple[str, bytes | None]], _Environment | ScoregateError] = field(default_factory=dict)
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    @asynccontextmanager
    async def open_run(
        self, contents: Contents, change: Callable[[Plan], Plan], *, finds_uses: bool = False, folder: str = ""
    ) -> AsyncIterator[Run]:
        """Run a part of the plan in an edited copy.

        Args:
            contents: the files that differ.
            change: chooses the part of the plan.
            finds_uses: whether the run records which files suites read.
            folder: where it is recorded; without one, it can be read until the block ends.

        Raises:
            ScoregateError: the copy or its suites can't be prepared.
        """
        async with self._take_copy() as place:
            if place.problem:
                raise GitError(place.problem, advice="Run the command again.")
            await to_thread.run_sync(place.copy.write, contents)
            plan, settings = place.plan, self.settings
            if (self.planned_from | self.installed_from) & contents.keys():
                made = await self.install(contents)
                plan = replace(self.plan, interpreter=made.interpreter)
                settings, plan = await self.ports.plan_by_tree(plan, place.copy.root, settings, made_from=made.tree)
            # Suites of the copy that open a file of the work tree itself would not see the edit: they have no results.
            plan = replace(change(plan), head=None if finds_uses else self.plan.root)
            if finds_uses:
                settings = settings.model_copy(update={"affected": True})
            elif self.timeout_s is not None:
                settings = settings.model_copy(update={"timeout": self.timeout_s})
            run = await self.ports.record(plan, settings, plan.notices, folder=folder or _name_folder(place.number))
            await to_thread.run_sync(self.spent.add, run)
            yield run

    async def install(self, contents: Contents) -> _Environment:
        """The environment of the suites by edited files, which is made once for the same ones.

        Raises:
            ScoregateError: it can't be made.
        """
        files = frozenset((path, content) for path, content in contents.items() if path in self.installed_from)
        if not files:
            return _Environment(self.plan.interpreter)
        async with self._lock:
            if files not in self._made:
                if len(self._made) >= _MOST_ENVIRONMENTS:
                    raise InstallError(f"no more than {_MOST_ENVIRONMENTS} environments are made to find a cause")
                copy = await self._copy_tree(self._stack)
                try:
                    await to_thread.run_sync(copy.write, dict(files))
                    sources = [each.source for each in self.plan.launches]
                    interpreter = await self.ports.prepare(self.settings, sources, tree=copy.root)
                    self._made[files] = _Environment(interpreter, copy.root)
                except ScoregateError as error:
                    self._made[files] = error
        made = self._made[files]
        if isinstance(made, ScoregateError):
            raise made
        return made

    @asynccontextmanager
    async def _take_copy(self) -> AsyncIterator[_Workplace]:
        """A copy that nothing else uses. Afterwards it is as before, or replaced if suites changed other files."""
        assert self._limit is not None
        async with self._limit:
            place = self._free.pop()
            try:
                yield place
            finally:
                with anyio.CancelScope(shield=True):
                    try:
                        if not await to_thread.run_sync(place.copy.restore):
                            await place.stack.aclose()
                            place = await self._open_copy(place.number)
                        self._free.append(place)
                    except ScoregateError as error:  # the others that wait for this copy must end, too
                        self._free.append(replace(place, problem=error.message))
                        raise

    async def _open_copy(self, number: int) -> _Workplace:
        stack = AsyncExitStack()
        self._stack.push_async_callback(stack.aclose)
        copy = await self._copy_tree(stack)
        return _Workplace(number, copy, await self.ports.move_plan(self.plan, copy.root, self.settings), stack)

    async def _copy_tree(self, stack: AsyncExitStack) -> TreeCopy:
        copy = await stack.enter_async_context(open_tree_copy(self.ports.root, self.settings))
        if not self.state:
            self.state = copy.state
        if copy.state != self.state:
            raise GitError("the work tree changed while it was measured", advice="Run the command again.")
        return copy

    @asynccontextmanager
    async def open_copies(self, number: int) -> AsyncIterator[None]:
        """Make the copies, until the block ends: so many runs are possible at a time.

        Raises:
            GitError: the work tree can't be copied.
        """
        self._limit = anyio.Semaphore(number)
        try:
            async with self._stack:
                self._free += [await self._open_copy(each) for each in range(1, number + 1)]
                yield
        finally:
            for each in range(1, number + 1):
                shutil.rmtree(self.ports.reporting.context.out / _name_folder(each), ignore_errors=True)

    async def run_once(self, contents: Contents, cases: Sequence[FailingCase]) -> Mapping[FailingCase, bool] | Broken:
        """Whether each case passes in a fresh trial, in a process of its own and without the cache.

        Args:
            contents: the files that differ.
            cases: the cases.

        Returns:
            The cases with a result; or why there is none, such as a provider that doesn't answer.
        """
        if self.ports.stop.is_set():
            return Broken(STOPPED)
        try:
            async with self.open_run(contents, lambda plan: restrict_plan(plan, group_cases(cases), repeats=1)) as run:
                outcomes = await to_thread.run_sync(find_outcomes, run, cases)
                failures = find_script_failures(run)
        except ScoregateError as error:
            return Broken(error.message)
        if self.ports.stop.is_set():  # the end of the suites may have made trials fail
            return Broken(STOPPED)
        if outcomes:
            return outcomes
        return Broken(next(iter(failures.values()), "") or find_gap(run) or "no trial had a result")


def _name_folder(number: int) -> str:
    """The folder of the runs in a copy, which are read and replaced."""
    return f"copy-{number}"


async def plan_suites(settings: Settings, ports: Ports) -> tuple[Settings, Plan]:
    """Find the suites of a project and prepare what they run in; the settings with the gates of suites, and the plan.

    Raises:
        ScoregateError: there are no suites, or they can't be prepared.
    """
    suites = await ports.discover(settings)
    settings = merge_suite_gates(settings, suites.sources)
    interpreter = await ports.prepare(settings, suites.sources)
    return settings, make_plan(suites, settings, interpreter=interpreter, root=ports.root)


def find_outcomes(run: Run, cases: Iterable[FailingCase]) -> dict[FailingCase, bool]:
    """Whether cases passed in their first trial. An exception of the function under test is a failure."""
    known = {(each.script, each.suite, each.params, each.case): each for each in cases}
    found: dict[FailingCase, bool] = {}
    for suite in run.suites:
        for trial in suite.cases:
            each = FailingCase.make(suite, trial.hash)
            case = known.get((each.script, each.suite, each.params, each.case))
            if case is not None and case not in found and (passed := has_passed(trial)) is not None:
                found[case] = passed
    return found


def has_passed(trial: CaseResult) -> bool | None:
    """Whether a trial passed; None if it has no result, as when the provider did not answer."""
    if trial.status in (Status.PASSED, Status.FAILED):
        return trial.status is Status.PASSED
    raised = any(each.evaluator is None for each in trial.errors)
    return False if raised and not _explain_gap(trial) else None


def find_gap(run: Run) -> str:
    """Why a run says nothing about an edit: the provider did not answer, or the budget is spent. Empty if it does."""
    gaps = [gap for suite in run.suites for trial in suite.cases if (gap := _explain_gap(trial))]
    return gaps[0] if len(gaps) > _MOST_GAPS * sum(len(suite.columns) for suite in run.suites) else ""


def _explain_gap(trial: CaseResult) -> str:
    errors = (each.error for each in trial.errors if each.error.type.rpartition(".")[2] in _WITHOUT_RESULT)
    return next((f"{each.type}: {each.message}"[:300] for each in errors), "")
