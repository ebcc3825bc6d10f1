"""A run: its suites, scripts and history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from scoregate.kernel.types.amounts import Amount, add, find_known, lack_prices
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, ListedTool, Origin, Setup, SuitePart
from scoregate.kernel.types.media import ReadMedia
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.arms import EXPECTATIONS, Arm
from scoregate.kernel.types.runs.case_columns import Columns, known_values
from scoregate.kernel.types.runs.case_means import average_scores
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.dependencies import RunDependencies
from scoregate.kernel.types.runs.evidence import Evidence, TrialMark, TrialRole, Trials, Use, does_count
from scoregate.kernel.types.runs.model_calls import ModelCalls
from scoregate.kernel.types.runs.past_runs import History
from scoregate.kernel.types.runs.run_scope import RunScope, RunShard
from scoregate.kernel.types.selection import CaseInput
from scoregate.kernel.types.slots import NO_SLOTS, Slots
from scoregate.kernel.types.suite import TASK
from scoregate.kernel.types.usage import count_tokens, measure_cost, sum_usage


@record
class SuiteInfo:
    """What `run.json` says of a suite.

    Attributes:
        label: the id with the parameters, with the file if two suites share it; unique in the run.
        origin: where the suite is defined.
        script: the script that was launched for it.
        params: the parameters of the grid search.
        planned: the number of planned trials; None if unknown.
        unfinished: the number of trials that started and never finished.
        reviews: the requested reviews of the suite's outputs.
        complete: whether the suite finished with all trials that were planned or started.
        assertion_failed: whether its `assert_test` raised.
        usage: the usage of model calls that belong to no case, such as calls from the user's own threads.
        sdk: the SDK that the suite is written with; None if unknown.
        skipped: whether a filter left it out.
        setup: what another framework ran the suite with; None for other suites.
        part: the part of the cases that a shard ran; None for all of them.
    """

    id: str
    label: str
    origin: Origin | None = None
    script: str | None = None
    evaluators: Mapping[str, EvaluatorInfo] = field(default_factory=dict)
    params: Mapping[str, Any] | None = None
    planned: int | None = None
    unfinished: int = 0
    errors: tuple[ErrorInfo, ...] = ()
    reviews: tuple[str, ...] = ()
    complete: bool = False
    assertion_failed: bool = False
    duration_s: float | None = None
    usage: Usage | None = None
    sdk: str | None = None
    skipped: bool = False
    setup: Setup | None = None
    part: SuitePart | None = None


@record
class SuiteResult(SuiteInfo):
    """One suite of a run, with its trials and the tools of the MCP servers that it connected to."""

    trials: Trials = field(default_factory=Trials)
    tools: tuple[ListedTool, ...] = ()

    @property
    def role(self) -> TrialRole:
        """What its trials were measured for: with a skill or another file for agents, or as the arm without it."""
        is_without = dict(self.params or {}) == {TASK: Arm.WITHOUT.value} and EXPECTATIONS in self.evaluators
        return TrialRole.WITHOUT if is_without else TrialRole.MAIN

    @property
    def evidence(self) -> Evidence:
        """Where its trials come from, and what they count for."""
        return Evidence(self.role, self.trials)

    @property
    def columns(self) -> Columns:
        """The results of its trials."""
        return self.trials.columns

    def with_columns(self, columns: Columns) -> SuiteResult:
        """The suite with other results of its trials."""
        return replace(self, trials=replace(self.trials, columns=columns))

    def select(self, use: Use) -> SuiteResult:
        """The suite with the trials that count: the same object if all do."""
        return self.without_rows(self.evidence.rows_without(use))

    def without_rows(self, rows: Collection[int]) -> SuiteResult:
        """The suite without some trials: the same object if there are none of them."""
        left = [row for row in range(len(self.columns)) if row not in rows] if rows else None
        return self if left is None else self.with_columns(self.columns.select(left))

    @property
    def cases(self) -> Iterator[CaseResult]:
        """The trials, read from disk one by one."""
        return iter(self.trials.read() if self.trials.read is not None else ())

    @property
    def passed(self) -> bool:
        """Whether it finished, something was scored or waits for people, and no case failed or has an error."""
        if self.skipped:
            return True
        bad = self.columns.count(Status.FAILED) + self.columns.count(Status.ERRORED)
        has_results = self.evaluations + self.pending > 0 or (self.part is not None and self.planned == 0)
        return self.complete and not bad and not self.errors and has_results

    @property
    def evaluations(self) -> int:
        """The number of scores and labels, without scores of evaluators that lack a scale."""
        columns = (column for name, column in self.columns.scores.items() if name not in self.columns.unscaled)
        scores = sum(len(known_values(column)) for column in columns)
        return scores + sum(sum(counts.values()) for counts in self.columns.labels.values())

    @property
    def pending(self) -> int:
        """The number of reviews that people have not done yet, of cases and of the suite's outputs."""
        return self.columns.pending + len(self.reviews)

    @property
    def other_usage(self) -> Usage | None:
        """The usage outside of its cases, with that of cases in quarantine: their calls were made, too."""
        excused = self.trials.excused if does_count(TrialMark.EXCUSED, Use.AMOUNTS) else None
        usages = (self.usage, None if excused is None else excused.sum_usage())
        return sum_usage(usage for usage in usages if usage is not None)

    @property
    def cost(self) -> Amount:
        """The cost of all model calls, in US dollars.

        Results of another run count with what that one paid, so that the cost is that of a run of all cases.
        """
        parts = measure_cost(self.other_usage), lack_prices(self.columns.unpriced)
        return add(parts, known_values(self.evidence.list_own_amounts(Use.AMOUNTS, lambda columns: columns.costs)))

    @property
    def tokens(self) -> Amount:
        """The input and output tokens of all model calls."""
        amounts = self.evidence.list_own_amounts(Use.AMOUNTS, lambda columns: columns.tokens)
        return add((count_tokens(self.other_usage),), known_values(amounts))

    def mean(self, evaluator: str) -> float | None:
        """The mean score over cases, each the mean of its trials; None without one, and if one is on no known scale."""
        return average_scores(self.columns, evaluator)


@record
class Script:
    """A script that was launched.

    Attributes:
        name: its path, or another name.
        command: the command line.
        exit_code: negative for a signal; None if it didn't start.
        timed_out: whether it was stopped after its time limit.
        duration_s: the duration in seconds.
        error: the error of the launch.
        expected: the ids of the suites that its source starts, if known.
        tests_failed: the exit code only says that tests failed, as the result files do.
        usage: the usage of calls at the gateway that may be of any of its suites; None without any.
    """

    name: str
    command: tuple[str, ...] = ()
    exit_code: int | None = None
    timed_out: bool = False
    duration_s: float = 0.0
    error: ErrorInfo | None = None
    expected: tuple[str, ...] = ()
    tests_failed: bool = False
    usage: Usage | None = None


@record
class BaseReference:
    """A reference to the baseline of a run.

    Attributes:
        id: the id of the baseline; empty if it could not be read.
        name: a name such as `main@a1b2c3d`.
        folder: its folder, absolute or relative to the project; empty if it was downloaded.
        implicit: whether no setting names it, so that it is the previous run on a developer's machine.
    """

    id: str
    name: str = ""
    folder: str = ""
    implicit: bool = False


@record
class Conditions:
    """Digests of what else the results of a run depend on, besides its suites and evaluators.

    Attributes:
        code: the digest of the commit and the uncommitted changes; None if unknown, such as outside git.
        settings: the digest of the settings that change results, such as the model.
        tracked: the digest of the commit and the changes to tracked files alone; None if unknown.
        untracked: the digests of the files that are neither tracked nor ignored, by path; None if unknown. That of a
            file which got the output of the run is `output`.
    """

    code: str | None = None
    settings: str = ""
    tracked: str | None = None
    untracked: Mapping[str, str] | None = None


@record
class RunCode:
    """The code that a run measured, and the title that its author gave it.

    Attributes:
        version: the version of scoregate.
        message: the title; None without one.
        commit: None outside git, as is `branch`.
        dirty: whether there were uncommitted changes.
    """

    version: str
    message: str | None = None
    commit: str | None = None
    branch: str | None = None
    dirty: bool = False


@record
class RunEnd:
    """How a run ended.

    Attributes:
        finished: when, in seconds since the epoch.
        complete: whether the run was not interrupted and its record is not damaged.
        stopped: why it ended before all cases were measured; empty if it didn't.
        attempt: the number of the attempt of its job, from 1.
    """

    finished: float
    complete: bool = False
    stopped: str = ""
    attempt: int = 1


@record
class RunInfo:
    """What `run.json` says of a run as a whole. Times are in seconds since the epoch.

    Attributes:
        settings: the settings of the project's file; None if they are not recorded.
        model_calls: those that the gateway counted. `dependencies`: of its scripts.
    """

    id: str
    started: float
    end: RunEnd
    code: RunCode
    scope: RunScope = field(default_factory=RunScope)
    scripts: tuple[Script, ...] = ()
    notices: tuple[str, ...] = ()
    policy: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] | None = None
    compared_with: BaseReference | None = None
    history: History = field(default_factory=History)
    conditions: Conditions | None = None
    dependencies: RunDependencies = field(default_factory=RunDependencies)
    model_calls: tuple[ModelCalls, ...] = ()

    @property
    def is_unselected(self) -> bool:
        """Whether it ended, and ran all suites and cases that the project's settings name."""
        return self.end.complete and self.scope.is_whole

    @property
    def has_all_results(self) -> bool:
        """Whether it is unselected, and no script failed: one with a syntax error, for example, has no results."""
        return self.is_unselected and not any(script.error for script in self.scripts)


@record
class Run(RunInfo):
    """The record of one run of all suites.

    Attributes:
        companions: runs of parts of its suites or of the base's, by what their trials were measured for. Those of main
            trials are earlier attempts at the same code, and those of pushes earlier pushes.
        slots: what features store.
        read_inputs: reads only the inputs of the trials, if possible. `read_media`: an image or audio by its digest.
    """

    suites: tuple[SuiteResult, ...] = ()
    companions: Mapping[TrialRole, tuple[Run, ...]] = field(default_factory=dict)
    slots: Slots = NO_SLOTS
    read: Callable[[], Iterable[CaseResult]] | None = None
    read_inputs: Callable[[], Iterable[CaseInput]] | None = field(default=None, compare=False)
    read_media: ReadMedia | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """A name such as `main@a1b2c3d`; without branch the commit, without commit the id."""
        code = self.code
        return "@".join(filter(None, (code.branch, code.commit[:7]))) if code.commit is not None else self.id

    def add_notices(self, *notices: str) -> Run:
        """The run with more notices."""
        return replace(self, notices=(*self.notices, *notices))

    def interrupt(self, *notices: str) -> Run:
        """The run, which is not complete, with what says why."""
        return replace(self, end=replace(self.end, complete=False), notices=(*self.notices, *notices))

    def with_shard(self, shard: RunShard | None) -> Run:
        """The run as that of a shard."""
        return replace(self, scope=replace(self.scope, shard=shard))

    def companions_of(self, role: TrialRole) -> tuple[Run, ...]:
        """The companions whose trials were measured for this."""
        return self.companions.get(role, ())

    def add_companion(self, role: TrialRole, run: Run) -> Run:
        """The run with one more companion."""
        return replace(self, companions={**self.companions, role: (*self.companions_of(role), run)})

    def change_companions(self, change: Callable[[Run], Run]) -> Mapping[TrialRole, tuple[Run, ...]]:
        """The companions, each changed as the run itself is."""
        return {role: tuple(map(change, runs)) for role, runs in self.companions.items()}

    @property
    def cases(self) -> Iterator[CaseResult]:
        """The trials of every suite, in the order in which they finished, read from disk one by one."""
        return iter(self.read() if self.read is not None else ())


def sum_costs(run: Run) -> float | None:
    """The known costs of a run, in US dollars; None if no price is known. Results of other runs cost nothing."""
    return _sum_spent(run, lambda columns: columns.costs, measure_cost)


def sum_tokens(run: Run) -> float | None:
    """The input and output tokens of a run; None if unknown. Results of other runs used none."""
    return _sum_spent(run, lambda columns: columns.tokens, count_tokens)


def _sum_spent(
    run: Run, pick: Callable[[Columns], Sequence[float]], measure: Callable[[Usage | None], Amount]
) -> float | None:
    suites = [
        add((measure(suite.usage),), known_values(suite.evidence.list_amounts(Use.SPENT, pick)))
        for suite in run.suites
        if suite.evidence.counts(Use.SPENT)
    ]
    known = find_known(add((*suites, *(measure(script.usage) for script in list_started_scripts(run)))))
    return None if known is None else float(known)


def list_started_scripts(run: Run) -> list[Script]:
    """The scripts that the run started: not those whose suites all have the results of another run."""
    others = {suite.script for suite in run.suites if not suite.evidence.counts(Use.SPENT)}
    others -= {suite.script for suite in run.suites if suite.evidence.counts(Use.SPENT)}
    return [script for script in run.scripts if script.name not in others]
