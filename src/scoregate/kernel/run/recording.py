"""Record what happens while scripts run, as a run that is on disk before anything else is done with it."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import anyio
from pydantic_core import to_json

from scoregate import __version__
from scoregate.kernel.host import git
from scoregate.kernel.host.process import OpenChild, open_child, run_until_stopped
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.judge.archive import AGAIN_BASE, BASE_FOLDER, CONTROL, RUN_FOLDER, RunWriter
from scoregate.kernel.judge.settings import Settings, ShowOutputs
from scoregate.kernel.judge.settings.limit_fields import FEATURE_SETTINGS, list_settings
from scoregate.kernel.run.code_digest import read_code
from scoregate.kernel.run.dependencies.project import open_use_recorder
from scoregate.kernel.run.launch import (
    CallService,
    EmitEvent,
    EventsReceived,
    Failed,
    Finished,
    Host,
    LaunchEvent,
    Launching,
    LaunchLayer,
    Notice,
    OpenLayer,
    launch_all,
    open_layers,
)
from scoregate.kernel.run.partial_run import CaseFilter, Excuse, FailureLimit, describe_exec_call
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.run.run_recorder import FLUSH_EVERY_S, RunRecorder
from scoregate.kernel.run.variables import LateNeeds
from scoregate.kernel.types.declarations.declaration import Effect
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.model_calls import CallTotals
from scoregate.kernel.types.runs.reducer import RunReducer, SuiteReducer
from scoregate.kernel.types.runs.run import Conditions, Run, RunCode, RunEnd
from scoregate.kernel.types.runs.run_scope import RunScope
from scoregate.kernel.types.runs.tally import Tally

if TYPE_CHECKING:
    from scoregate.kernel.run.dependencies.head_checkout import HeadCheckout
    from scoregate.kernel.run.dependencies.recording import UseRecorder


class Recording(Protocol):
    """The results so far: of all scripts on one machine, or of all parts on a cluster.

    Attributes:
        launches: the number of scripts.
        message: the message of the run.
        finished: the trials that the last event finished, each with its suite.
    """

    launches: int
    message: str | None
    finished: list[tuple[SuiteReducer, CaseResult]]

    @property
    def stage(self) -> str:
        """The name of the folder of the run."""
        ...

    def count_calls(self) -> CallTotals | None:
        """The calls of models so far; None if they aren't counted."""
        ...

    def tallies(self) -> Iterator[tuple[str, Tally]]:
        """How far every suite is, each with its script."""
        ...


Observer: TypeAlias = Callable[[LaunchEvent, Recording], None]


_SETTINGS = ("model", "model_base_url", "model_headers")


async def read_conditions(root: Path, settings: Settings, tree: git.WorkTree | None) -> Conditions:
    """The conditions of a run of the project now; the folder of reports is not one of them.

    Args:
        root: the project.
        settings: the settings of the project.
        tree: what is checked out; None outside a repository.
    """
    chosen = {name: getattr(settings, name) for name in _SETTINGS}
    chosen |= {each.name: each.of(settings) for each in list_settings(Effect.DECIDES_RESULTS)}
    if rules := settings.criteria().score_settings:
        chosen["evaluators"] = rules
    if clusters := settings.policy().cluster_settings:
        chosen["cluster"] = clusters
    for each in sorted(FEATURE_SETTINGS, key=lambda each: each.name):  # whatever the order of features
        if each.condition is not None and (condition := each.condition(each.of(settings))):
            chosen[each.name] = condition
    values = to_json(chosen, serialize_unknown=True)
    digest, left_out = hashlib.blake2b(values, digest_size=8).hexdigest(), root / settings.out
    if tree is None:
        return Conditions(None, digest)
    code = await read_code(root, tree, left_out=left_out)
    return Conditions(code.whole, digest, code.tracked, code.untracked)


@record
class Recorder:
    """Records runs in folders below `out`.

    Args:
        out: the folder of runs and reports.
        environ: the host's environment, of which scripts get a part.
        redact: removes secrets from what is recorded.
        new_identity: the user that the next script runs as; None for the host's own.
        list_layers: lists what opens the layers of features around launches on this machine.
        observers: get every event.
        stop: once it is set, scripts are ended, and what they have reported is the run.
        branch: the branch of the job; None for git's. `attempt`: the attempt of the job.
        keep: how many earlier runs are kept.
        calls: serves the calls of models, if anything does. `open_child`: starts the processes of scripts.
        skip_missing: whether suites without the variables that they need are skipped, instead of failing the run.
    """

    out: Path
    environ: Mapping[str, str]
    redact: Redactor
    new_identity: Callable[[], Identity | None]
    list_layers: Callable[[Launching], Sequence[OpenLayer]]
    observers: Sequence[Observer]
    stop: anyio.Event
    branch: str | None = None
    attempt: int = 1
    keep: int = 0
    calls: CallService | None = None
    open_child: OpenChild = open_child
    skip_missing: bool = False

    async def record(
        self,
        plan: Plan,
        settings: Settings,
        notices: Sequence[str],
        *,
        folder: str = RUN_FOLDER,
        excuses: Sequence[Excuse] = (),
    ) -> Run:
        """Launch the plan; the run is on disk when this returns, or is cancelled."""
        head = await self.describe(plan, settings, notices)
        # The layer of the calls is the innermost: what suites ask there happens within their traces.
        launching = self.make_launching(plan, settings, folder)
        calls = () if self.calls is None else (self.calls.around_launches,)
        async with open_layers((*self.list_layers(launching), *calls), launching) as layers:
            return await self._record(plan, settings, head, layers, folder=folder, excuses=excuses)

    def make_launching(self, plan: Plan, settings: Settings, folder: str) -> Launching:
        """What the launches of a plan share, whose run is recorded in a folder."""
        is_base = folder.partition("/")[0] == BASE_FOLDER or folder.endswith((f"/{CONTROL}", f"/{AGAIN_BASE}"))
        return Launching(plan, settings, self.environ, self.redact, is_base)

    async def _record(
        self,
        plan: Plan,
        settings: Settings,
        head: Run,
        layers: Sequence[LaunchLayer],
        *,
        folder: str,
        excuses: Sequence[Excuse],
    ) -> Run:
        with RunWriter(self.out / folder, keep=self.keep if folder == RUN_FOLDER else 0) as writer:
            recording = RunRecorder(
                writer,
                broken=plan.broken,
                launches=len(plan.launches),
                show_outputs=settings.show_outputs is ShowOutputs.FULL,
                head=head,
                reducer=RunReducer.for_policy(settings.policy()),
                layers=layers,
                plan=plan,
            )
            selected = CaseFilter.for_plan(settings.selection, plan)
            needs = LateNeeds(settings, self.environ, self.skip_missing)
            failures = FailureLimit(settings.selection.max_failures if folder == RUN_FOLDER else None, excuses)

            def emit(event: LaunchEvent) -> None:
                event = redact_event(event, self.redact)
                event = selected.select(event) if selected is not None and isinstance(event, EventsReceived) else event
                recording.record_event(event := needs.apply(event))
                failures.count(recording.finished)
                for observe in self.observers:
                    observe(event, recording)

            is_done = False
            try:
                async with flush_regularly(recording.flush_if_due):
                    launched = self._launch(plan, settings, emit, recording)
                    work = run_until_stopped(failures.reached, launched, stopped=False)
                    is_done = await run_until_stopped(self.stop, work, stopped=False)
            finally:
                if selected is not None:
                    recording.notices += selected.notices
                    recording.scripts += selected.missing_nodes() if is_done and folder == RUN_FOLDER else []
                needs.finish(recording, plan if is_done and folder == RUN_FOLDER else None)
                end = replace(head.end, finished=time.time(), stopped="" if is_done else failures.describe())
                head = replace(head, end=end, scope=replace(head.scope, skipped=(*head.scope.skipped, *needs.left_out)))
                for layer in layers:
                    head = layer.add_to_run(head)
                run = recording.finish(head, interrupted=not is_done)
        return run

    async def _launch(self, plan: Plan, settings: Settings, emit: EmitEvent, recording: RunRecorder) -> bool:
        """Launch the plan; True once every launch has ended."""
        if self.stop.is_set():
            return False  # else the first scripts would start, to be ended at once
        uses: UseRecorder | HeadCheckout | None
        if plan.head is None:
            uses = recording.uses = await open_use_recorder(plan.root, settings)
        else:
            from scoregate.kernel.run.dependencies.head_checkout import open_head_checkout

            uses = await open_head_checkout(plan.head, settings)
        host = Host(
            plan.root,
            self.environ,
            self.redact,
            new_identity=self.new_identity,
            timeout_s=settings.timeout,
            max_scripts=settings.max_suites,
            layers=recording.layers,
            open_child=self.open_child,
            uses=uses,
        )
        await launch_all(plan.launches, host, emit)
        return True

    async def describe(self, plan: Plan, settings: Settings, notices: Sequence[str]) -> Run:
        """The run of a plan without its results."""
        now, root = time.time(), plan.root
        try:
            file_values = json.loads(self.redact.text(json.dumps(settings.file_values, default=str)))
        except ValueError:  # without secrets it is not JSON any more
            file_values = None
        tree = await git.read_work_tree(root)
        return Run(
            id=uuid.uuid4().hex,
            started=now,
            end=RunEnd(now, attempt=self.attempt),
            code=RunCode(
                __version__,
                None if settings.message is None else self.redact.text(settings.message),
                commit=tree.commit if tree else None,
                branch=self.branch or (tree.branch if tree else None),
                dirty=tree is not None and tree.dirty,
            ),
            scope=RunScope(
                settings.filters,
                settings.file_filters,
                skipped=plan.skipped,
                left_out=plan.left_out,
                narrowed=plan.narrowed,
                exec_call=describe_exec_call(settings, self.redact.text),
                selection=self.redact.text(settings.selection.description),
                shard=plan.shard,
            ),
            policy=(settings.proposed or settings).policy().to_record(),
            settings=file_values if isinstance(file_values, dict) else None,
            conditions=await read_conditions(root, settings, tree),
            notices=tuple(map(self.redact.text, notices)),
        )


@asynccontextmanager
async def flush_regularly(flush_if_due: Callable[[], None]) -> AsyncIterator[None]:
    """Flush what has finished also while no event arrives, until the block ends."""

    async def flush() -> None:
        while True:
            flush_if_due()
            await anyio.sleep(FLUSH_EVERY_S)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(flush)
        yield
        tasks.cancel_scope.cancel()


def redact_event(event: LaunchEvent, redact: Redactor) -> LaunchEvent:
    """Redact the host's own texts, which may name files and commands. Events and output are redacted already."""
    if isinstance(event, Notice):
        return replace(event, notice=redact.text(event.notice))
    if isinstance(event, Failed):
        return replace(event, error=_redact_error(event.error, redact))
    if isinstance(event, Finished) and event.script.error is not None:
        error = _redact_error(event.script.error, redact)
        return replace(event, script=replace(event.script, error=error))
    return event


def _redact_error(error: ErrorInfo, redact: Redactor) -> ErrorInfo:
    traceback = error.traceback and redact.text(error.traceback)
    return replace(error, message=redact.text(error.message), traceback=traceback)
