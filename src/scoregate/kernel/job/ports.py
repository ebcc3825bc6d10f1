"""Ports: the functions through which the pipeline acts, supplied by the composition root."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import anyio

from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.judge.archive import BASE_FOLDER, RUN_FOLDER
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import DiscoveredSuites, Plan, SuiteSource
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import NO_SLOTS, Slots

if TYPE_CHECKING:
    from scoregate.kernel.compare.agreement import Calibrations
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.job.publish.delivery import Delivery
    from scoregate.kernel.report.view import ReportView
    from scoregate.kernel.run.partial_run import Excuse

BaselineSource: TypeAlias = Callable[[Settings], Awaitable[Baseline | None]]
AmendRun: TypeAlias = Callable[[Run], None]


class RecordPlan(Protocol):
    """Runs a plan and records the run in a folder, with notices. Excused failures stop no run."""

    async def __call__(
        self,
        plan: Plan,
        settings: Settings,
        notices: Sequence[str],
        *,
        folder: str = RUN_FOLDER,
        excuses: Sequence[Excuse] = (),
    ) -> Run: ...


class PrepareSuites(Protocol):
    """Creates the environment of suites, from the files of another work tree if one is given."""

    def __call__(
        self, settings: Settings, sources: Sequence[SuiteSource], *, tree: Path | None = None
    ) -> Awaitable[Interpreter]: ...


class PlanByTree(Protocol):
    """Moves a plan into another work tree, with what the settings there choose to run; these are returned as well.

    The interpreter was made from the files of a third tree, if there is one.
    """

    async def __call__(
        self, plan: Plan, tree: Path, settings: Settings, *, made_from: Path | None = None
    ) -> tuple[Settings, Plan]: ...


class SettleRun(Protocol):
    """Kills processes that suites left, and undoes forbidden changes; writes the run again with a notice of them."""

    async def __call__(self, run: Run, amend: AmendRun) -> Run: ...


class RerunPlan(Protocol):
    """Runs a plan in the base's tree. The run keeps what features need of what they found."""

    async def __call__(
        self, plan: Plan, settings: Settings, *, folder: str = BASE_FOLDER, slots: Slots = NO_SLOTS
    ) -> Baseline: ...


@record
class Reporting:
    """Where baselines come from and reports go to.

    Args:
        baselines: the sources, called in turn.
        apply_reviews: applies the reviews that were added after a run; it blocks.
        calibrations: reads how well judges agree with people; it blocks.
        announce: a context that is open from the start to the end of the pipeline.
        publish: delivers the reports.
        context: the context of the job, for features.
        is_scheduled: whether the run is compared with the last one only, and not with several of its commit: between
            scheduled runs, what changes is the provider.
        preload: imports what reports need; called while suites run, so that their end need not wait for it.
    """

    baselines: Sequence[BaselineSource]
    apply_reviews: Callable[[Run], Run]
    calibrations: Callable[[], Calibrations]
    announce: Callable[[], AbstractAsyncContextManager[None]]
    publish: Callable[[ReportView], Awaitable[Delivery]]
    context: JobContext
    is_scheduled: bool = False
    preload: Callable[[], None] = lambda: None


@record
class Ports:
    """The functions through which the pipeline acts on the outside world.

    Args:
        root: the project.
        discover: finds suites.
        prepare: creates their environment, and returns the Python that runs them.
        record: runs a plan here.
        rerun: runs a plan in the base's tree.
        move_plan: moves a plan into another work tree of the project; its processes must open no file of this one.
        plan_by_tree: the same with what the settings of that tree choose to run.
        read_previous_run: reads the run that the next one replaces, if it belongs to the same history.
        amend: writes a recorded run again, without its cases.
        settle: runs after the last suite.
        reporting: finds baselines and delivers reports.
        stop: once it is set, scripts are ended, and the results so far are reported.
        started: is set once the process of a script has started.
        scratch: a folder outside of the project, for files that suites read.
        identity: the user that reads them; None for the host's own.
        print_line: prints a line of scoregate's own before the suites run.
        requests: what the command asks features for.
    """

    root: Path
    discover: Callable[[Settings], Awaitable[DiscoveredSuites]]
    prepare: PrepareSuites
    record: RecordPlan
    rerun: RerunPlan
    move_plan: Callable[[Plan, Path, Settings], Awaitable[Plan]]
    plan_by_tree: PlanByTree
    read_previous_run: Callable[[], Awaitable[Run | None]]
    amend: AmendRun
    settle: SettleRun
    reporting: Reporting
    stop: anyio.Event
    started: anyio.Event
    scratch: Path
    identity: Identity | None
    print_line: Callable[[str], None]
    requests: Slots = NO_SLOTS
