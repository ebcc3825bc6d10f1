"""A run: its suites, scripts and history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from scoregate.kernel.types.amounts import Amount, add, lack_prices
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, ListedTool, Origin, Setup, SuitePart
from scoregate.kernel.types.media import ReadMedia
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.arms import EXPECTATIONS, Arm
from scoregate.kernel.types.runs.case_columns import Columns, known_values
from scoregate.kernel.types.runs.case_means import average_scores
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.cost_estimates import RunEstimate
from scoregate.kernel.types.runs.dependencies import RunDependencies
from scoregate.kernel.types.runs.evidence import Evidence, TrialMark, TrialRole, Trials, Use, does_count
from scoregate.kernel.types.runs.model_calls import ModelCalls
from scoregate.kernel.types.runs.past_runs import History
from scoregate.kernel.types.selection.case_choice import CaseInput
from scoregate.kernel.types.slots import NO_SLOTS, Slots
from scoregate.kernel.types.suite import TASK
from scoregate.kernel.types.usage import count_tokens, measure_cost, sum_usage

RECORD_VERSION = 1


@record
class SuiteResult:
    """One suite of a run.

    Attributes:
        label: the id with the parameters, with the file if two suites share it; unique in the run.
        origin: where the suite is defined.
        script: the script that was launched for it.
        params: the parameters of the grid search.
        planned: the number of planned trials; None if unknown.
        reviews: the requested reviews of the suite's outputs.
        complete: whether the suite finished with all trials that were planned or started.
        assertion_failed: whether its `assert_test` raised.
        usage: the usage of model calls that belong to no case, such as calls from the user's own threads.
        sdk: the SDK that the suite is written with; None if unknown.
        skipped: whether a filter left it out. `unfinished`: the number of trials that started and never finished.
        setup: what another framework ran the suite with; None for other suites.
        part: the part of the cases that a shard ran; None for all of them.
        tools: the tools of the MCP servers that it connected to.
    """

    id: str
    label: str
    origin: Origin | None = None
    script: str | None = None
    evaluators: Mapping[str, EvaluatorInfo] = field(default_factory=dict)
    params: Mapping[str, Any] | None = None
    planned: int | None = None
    errors: tuple[ErrorInfo, ...] = ()
    reviews: tuple[str, ...] = ()
    complete: bool = False
    assertion_failed: bool = False
    duration_s: float | None = None
    usage: Usage | None = None
    sdk: str | None = None
    trials: Trials = field(default_factory=Trials)
    skipped: bool = False
    unfinished: int = 0
    setup: Setup | None = None
    part: SuitePart | None = None
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
        excused = self.trials.excused if does_count(TrialMark.EXCUSED, Use.LIMITS) else None
        usages = (self.usage, None if excused is None else excused.sum_usage())
        return sum_usage(usage for usage in usages if usage is not None)

    @property
    def cost(self) -> Amount:
        """The cost of all model calls, in US dollars.

        Results of another run count with what that one paid, so that the cost is that of a run of all cases.
        """
        parts = measure_cost(self.other_usage), lack_prices(self.columns.unpriced)
        return add(parts, known_values(self.columns.costs))

    @property
    def tokens(self) -> Amount:
        """The input and output tokens of all model calls."""
        return add((count_tokens(self.other_usage),), known_values(self.columns.tokens))

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
class ExecCall:
    """The call of `scoregate exec` that made a run.

    Attributes:
        options: the options that say how results are read, with their values.
        command: the command line.
        folder: where it ran, relative to the project.
    """

    options: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    folder: str = "."


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
class ReusedRun:
    """An earlier run whose results another run reuses. Times are in seconds since the epoch."""

    id: str
    started: float
    finished: float
    attempt: int = 1


@record
class RunShard:
    """The shard that a run is of: the one with a `number`, from 1, `of` all shards.

    Attributes:
        partition: the fingerprint of the partition; `contents`: what each of its shards runs, as text.
        id: the digest of what the shard runs; `base`: the id of the baseline whose outputs and cases it used, or empty.
        no_control: why the drift control of its cases has no result; empty if it has one.
    """

    partition: str
    number: int
    of: int
    id: str
    base: str = ""
    contents: tuple[str, ...] = ()
    no_control: str = ""


@record
class Run:
    """The record of one run of all suites. Times are in seconds since the epoch.

    Attributes:
        commit: None outside git, as is `branch`; `dirty`: whether there were uncommitted changes. `attempt`: from 1.
        complete: whether the run was not interrupted and its record is not damaged.
        settings: the settings of the project's file; None if they are not recorded.
        filters: the globs that suites' ids had to match; `file_filters`, of a project's file, excuse no missing suite.
        skipped: the ids of suites without a requirement, such as a model's key; `left_out`: those that match no filter.
        narrowed: whether files, a command or test sets were named, so that other suites are not in the run.
        exec_call: the call of `scoregate exec` that made it; None for `scoregate run`.
        selection: the options that left out cases; `stopped`: why it ended.
        companions: runs of parts of its suites or of the base's, by what their trials were measured for.
        slots: what features store.
        reused_from: the run that reused results come from; `model_calls`: those that the gateway counted.
        read_inputs: reads only the inputs of the trials, if possible. `read_media`: an image or audio by its digest.
        shard: that it is of; None for a whole run. `estimate`: its expected use. `dependencies`: of its scripts.
    """

    id: str
    started: float
    finished: float
    version: str
    schema_version: int = RECORD_VERSION
    message: str | None = None
    commit: str | None = None
    branch: str | None = None
    dirty: bool = False
    attempt: int = 1
    complete: bool = False
    suites: tuple[SuiteResult, ...] = ()
    scripts: tuple[Script, ...] = ()
    notices: tuple[str, ...] = ()
    policy: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] | None = None
    filters: tuple[str, ...] = ()
    file_filters: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    narrowed: bool = False
    exec_call: ExecCall | None = None
    selection: str = ""
    stopped: str = ""
    companions: Mapping[TrialRole, tuple[Run, ...]] = field(default_factory=dict)
    history: History = field(default_factory=History)
    compared_with: BaseReference | None = None
    conditions: Conditions | None = None
    reused_from: ReusedRun | None = None
    model_calls: tuple[ModelCalls, ...] = ()
    shard: RunShard | None = None
    estimate: RunEstimate | None = None
    dependencies: RunDependencies = field(default_factory=RunDependencies)
    slots: Slots = NO_SLOTS
    read: Callable[[], Iterable[CaseResult]] | None = None
    read_inputs: Callable[[], Iterable[CaseInput]] | None = field(default=None, compare=False)
    read_media: ReadMedia | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """A name such as `main@a1b2c3d`; without branch the commit, without commit the id."""
        return "@".join(filter(None, (self.branch, self.commit[:7]))) if self.commit is not None else self.id

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
