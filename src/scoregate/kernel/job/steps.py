"""The hooks of a run: what a feature may do, and when. Each does nothing unless a feature overrides it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from scoregate.kernel.judge.judgement import Baseline, CompareRuns, Judged, JudgeRun, JudgeSides, JudgeStep
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.interpreter import Interpreter, SuiteHost
from scoregate.kernel.types.declarations.declaration import RunFacts
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.run_scope import RunShard
from scoregate.kernel.types.slots import NO_SLOTS, Slot, Slots

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.job.comment_command import CommandKind
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.job.ports import BaselineSource, Ports, RecordPlan
    from scoregate.kernel.job.publish.delivery import Publisher
    from scoregate.kernel.report.view import ReportView
    from scoregate.kernel.run.launch import Launching, LaunchLayer, OpenLayer
    from scoregate.kernel.run.partial_run import Excuse
    from scoregate.kernel.run.plan import Plan, SuiteSource
    from scoregate.kernel.run.recording import Recorder

INTERRUPTED = 130
FINISHED: Slot[Run] = Slot("finished")
"""In the slots of a job: the run that it judges, if that was made before."""

OpenRecorder: TypeAlias = "AbstractAsyncContextManager[Recorder]"
LoadSteps: TypeAlias = "Callable[[RunFacts], Sequence[Step]]"


@record
class Outcome(Judged):
    """A run that was judged, and what was reported of it.

    Attributes:
        view: what was reported; None if nothing was.
        warnings: what could not be delivered.
        pending: the comment is left to a later job with more rights.
        comment: the address of the comment.
        interrupted: the run was stopped.
    """

    view: ReportView | None = None
    warnings: tuple[str, ...] = ()
    pending: bool = False
    comment: str = ""
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """The verdict's exit code, or 130 if the run was interrupted."""
        return INTERRUPTED if self.interrupted else self.verdict.exit_code


@record
class PlannedRun:
    """What is known before suites run, for hooks that change what will run.

    Attributes:
        plan: the plan.
        baseline: what the run will be compared with.
        settings: the settings of the project.
        context: the context of the job.
        whole: the plan of all shards, if this one is of a single shard.
        notices: the notices for the report.
        reasons: why each launch runs, by its name, if that was asked; empty for one that keeps the base's results.
        slots: what features found.
    """

    plan: Plan
    baseline: Baseline
    settings: Settings
    context: JobContext
    whole: Plan | None = None
    notices: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    slots: Slots = NO_SLOTS

    @property
    def facts(self) -> RunFacts:
        """What is known for the features that change the plan."""
        sources = tuple(launch.source for launch in self.plan.launches)
        return replace(self.context.facts, settings=self.settings, sources=sources)


@record
class Work:
    """What was measured so far, for hooks that measure more.

    Attributes:
        run: the run.
        baseline: what it is compared with.
        plan: what ran, without stored results that were offered: what is measured more is new evidence.
        settings: the settings of the project.
        ports: run a part of the plan here or in the base's tree.
        slots: what features found for the judgement.
        compare: compares a run with a baseline as the judgement does, without what `after_compare` adds.
        judge: judges a run and a baseline; that of a shard says nothing about the whole run.
    """

    run: Run
    baseline: Baseline
    plan: Plan
    settings: Settings
    ports: Ports
    slots: Slots
    compare: CompareRuns
    judge: JudgeSides


class Step(JudgeStep):
    """A feature's part of a run."""

    in_shards: ClassVar[bool] = False
    """Whether each shard calls its hooks of planning and measuring; otherwise only a run on one machine does."""

    def baseline_sources(self, context: JobContext) -> Sequence[BaselineSource]:
        """Where else a baseline may come from."""
        return ()

    async def prepare(
        self, host: SuiteHost, settings: Settings, sources: Sequence[SuiteSource], *, dry: bool
    ) -> Interpreter | None:
        """Make what suites run in, and find their Python; None to leave it to others. A dry call makes nothing.

        Raises:
            InstallError: it can't be made.
            SettingsError: the named interpreter does not exist.
        """
        return None

    def around_run(self, recorder: Recorder, context: JobContext, scratch: Path) -> OpenRecorder:
        """Serve all recordings of a run until the block ends: the recorder with another environment, for example."""
        return nullcontext(recorder)

    def open_executor(
        self, recorder: Recorder, settings: Settings, scratch: Path
    ) -> AbstractAsyncContextManager[RecordPlan] | None:
        """Open what records plans elsewhere than on this machine; None if the settings don't ask for it."""
        return None

    def around_launches(self, launching: Launching) -> AbstractAsyncContextManager[LaunchLayer | None]:
        """Open what it adds to the launches of one recording, on the machine that they run on."""
        return nullcontext()

    async def measure_base(self, planned: PlannedRun, ports: Ports) -> Baseline:
        """Run the base's version of suites here, if no run of the base was found."""
        return planned.baseline

    async def change_plan(self, planned: PlannedRun) -> PlannedRun:
        """Leave out what need not run. Commands that only show a plan call it, too."""
        return planned

    async def find_sides(self, context: JobContext, settings: Settings, slots: Slots) -> Slots:
        """Find what else the run is compared with and reported with, before money is spent."""
        return slots

    async def finish_plan(self, planned: PlannedRun, ports: Ports) -> PlannedRun:
        """Reuse results of earlier runs, or refuse the run, now that it is known what runs.

        Raises:
            ScoregateError: nothing may run.
        """
        return planned

    def store(self, run: Run, slots: Slots) -> Run:
        """Keep in the recorded run what was found before it."""
        return run

    def excuse(self, slots: Slots, base: Run | None) -> Excuse | None:
        """Which failing cases don't count for `--max-failures`."""
        return None

    def store_base(self, run: Run, slots: Slots) -> Run:
        """Keep in a run of the base that was measured now what its comparison needs."""
        return run

    async def measure_more(self, work: Work) -> Work:
        """Measure more once the suites have run, if the run is complete."""
        return work

    def merge_shards(self, run: Run, shards: Mapping[Path, RunShard], folder: Path, settings: Settings) -> Run:
        """Merge what shards have measured more, by their folders, and write it to the folder of the merged run."""
        return run

    def check_merged(self, run: Run, baseline: Baseline, compare: CompareRuns) -> Run:
        """The merged run with what only the whole run and its baseline show."""
        return run

    async def check_verdict(self, work: Work, judged: Judged, judge: JudgeRun) -> Judged:
        """Measure a part of a run again that was measured and judged here, to judge that too before it is reported."""
        return judged

    async def before_report(self, comparison: Comparison, context: JobContext) -> Comparison:
        """Find what only reports need, once a run is judged in a job."""
        return comparison

    def open_publishers(self, context: JobContext) -> AbstractAsyncContextManager[Sequence[Publisher]]:
        """What else delivers the report, open from the start of a run to its end."""
        return nullcontext(())

    @property
    def comment_commands(self) -> Sequence[CommandKind]:
        """What people can write in comments on pull requests."""
        return ()


async def prepare(
    load: LoadSteps, host: SuiteHost, settings: Settings, sources: Sequence[SuiteSource], *, dry: bool = False
) -> Interpreter:
    """The Python that runs suites, from the first step that has one; else scoregate's own."""
    for step in load(RunFacts(settings, host.root, host.environ, sources=sources)):
        if (found := await step.prepare(host, settings, sources, dry=dry)) is not None:
            return found
    return Interpreter((sys.executable,), "the Python that scoregate runs under")


@asynccontextmanager
async def open_recorder(
    load: LoadSteps, recorder: Recorder, context: JobContext, settings: Settings, scratch: Path
) -> AsyncIterator[tuple[Recorder, RecordPlan]]:
    """The recorder of a run, and what records its plans, here or elsewhere, until the block ends."""
    steps = load(replace(context.facts, settings=settings))
    async with AsyncExitStack() as stack:
        for step in steps:
            recorder = await stack.enter_async_context(step.around_run(recorder, context, scratch))
        executors = [each for step in steps if (each := step.open_executor(recorder, settings, scratch)) is not None]
        yield recorder, await stack.enter_async_context(executors[0]) if executors else recorder.record


def list_layers(load: LoadSteps, launching: Launching) -> list[OpenLayer]:
    """What opens the layers of features around these launches."""
    sources = tuple(launch.source for launch in launching.plan.launches)
    steps = load(RunFacts(launching.settings, environ=launching.environ, sources=sources))
    return [step.around_launches for step in steps]


async def measure_base(steps: Sequence[Step], planned: PlannedRun, ports: Ports) -> Baseline:
    """The baseline; call this hook of each step in turn while it has no run."""
    for step in steps:
        if planned.baseline.run is None:
            planned = replace(planned, baseline=await step.measure_base(planned, ports))
    return planned.baseline


async def change_plan(steps: Sequence[Step], planned: PlannedRun) -> PlannedRun:
    """Leave out, by each step in turn, what need not run."""
    for step in steps:
        planned = await step.change_plan(planned)
    return planned


async def finish_plan(steps: Sequence[Step], planned: PlannedRun, ports: Ports) -> PlannedRun:
    """Offer stored results by each step in turn; one may refuse the run."""
    for step in steps:
        planned = await step.finish_plan(planned, ports)
    return planned


async def find_sides(
    steps: Sequence[Step], context: JobContext, settings: Settings, *, finished: Run | None = None
) -> Slots:
    """What the hook of this name of all steps finds.

    Args:
        steps: the steps.
        context: the context of the job.
        settings: the settings of the project.
        finished: the run that is judged, if it was made before.
    """
    slots = NO_SLOTS.put(FINISHED, finished)
    for step in steps:
        slots = await step.find_sides(context, settings, slots)
    return slots


def store(steps: Sequence[Step], run: Run, slots: Slots) -> Run:
    """The run with what all steps keep in it."""
    for step in steps:
        run = step.store(run, slots)
    return run


async def measure_more(steps: Sequence[Step], work: Work) -> Work:
    """Call this hook of each step in turn; none is called once the run is not complete."""
    for step in steps:
        if work.run.end.complete:
            work = await step.measure_more(work)
    return work
