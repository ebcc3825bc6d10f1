"""The composition root: builds the ports of the pipeline."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import anyio
import anyio.to_thread

from scoregate.errors import RecordError
from scoregate.kernel.host.process import ChildProcess, OpenChild, open_child
from scoregate.kernel.host.runner import in_ci, read_ci_job
from scoregate.kernel.host.user_ids import Identity, new_identity, with_home
from scoregate.kernel.job.job import JobContext, make_publish_target, open_job_context
from scoregate.kernel.job.ports import Ports, RecordPlan
from scoregate.kernel.job.protection import Protection, protect_host_files
from scoregate.kernel.job.publish.delivery import write_first_outputs
from scoregate.kernel.job.reporting import build_reporting
from scoregate.kernel.job.steps import LoadSteps, list_layers, open_recorder, prepare
from scoregate.kernel.judge.archive import BASE_FOLDER, RUN_FOLDER, amend_run, read_run
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.sources import COMMAND_LINE
from scoregate.kernel.run.discovery import FindSuites, discover, find_suites
from scoregate.kernel.run.interpreter import Interpreter, SuiteHost
from scoregate.kernel.run.plan import Plan, SuiteSource
from scoregate.kernel.run.recording import Observer, Recorder
from scoregate.kernel.run.variables import read_env_file
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import NO_SLOTS, Slots

if TYPE_CHECKING:
    from anyio.abc import Process


PrintLine: TypeAlias = Callable[[str], None]


@asynccontextmanager
async def open_ports(
    root: Path,
    environ: Mapping[str, str],
    settings: Settings,
    load: LoadSteps,
    *,
    scratch: Path,
    observers: Sequence[Observer],
    print_line: PrintLine,
    stop: anyio.Event,
    find: FindSuites = find_suites,
    requests: Slots = NO_SLOTS,
    opened_by: OpenChild = open_child,
) -> AsyncIterator[Ports]:
    """The ports for one run, until the block ends.

    Args:
        root: the project.
        environ: the host's environment.
        settings: the settings of the project.
        load: loads the steps of features.
        scratch: an empty folder outside the project, for temporary files.
        observers: get every event while scripts run.
        print_line: prints a line while the suites' environment is created.
        stop: ends what runs, once it is set.
        find: finds suites.
        requests: what the command asks features for.
        opened_by: starts the processes of suites.
    """
    variables = read_env_file(root, settings, environ)
    async with _open_protected_job(root, environ, settings, variables, stop) as protection:
        context, identity = protection.context, new_identity(protection.context.environ)
        started = anyio.Event()
        own_environ = _make_suite_environment(context, variables, scratch, identity)
        open_first = partial(_open_child, opened_by, started)
        local = _make_recorder(context, own_environ, load, observers, stop, opened_by=open_first)
        async with open_recorder(load, local, context, settings, scratch) as (recorder, record):
            suite_environ = recorder.environ
            host = SuiteHost(root, scratch, context.environ, suite_environ, context.redact, print_line, identity)
            yield Ports(
                root=root,
                discover=partial(discover, root, environ=suite_environ, skip_missing=context.skips_missing, find=find),
                prepare=partial(_prepare, load, host),
                record=record,
                rerun=partial(_rerun_baseline, context, load, recorder, record, identity, find),
                move_plan=partial(_move_plan, suite_environ, identity),
                plan_by_tree=partial(_plan_by_tree, suite_environ, identity),
                read_previous_run=partial(_read_previous_run, context),
                amend=partial(amend_run, context.out / RUN_FOLDER),
                settle=protection.settle,
                reporting=build_reporting(context, load, is_developers_run=is_developers_run(context, find)),
                stop=stop,
                started=started,
                scratch=scratch,
                identity=identity,
                print_line=print_line,
                requests=requests,
            )


async def _open_child(opened_by: OpenChild, started: anyio.Event, child: ChildProcess) -> Process:
    """Start the process of a script, and set the event."""
    process = await opened_by(child)
    started.set()
    return process


@asynccontextmanager
async def _open_protected_job(
    root: Path, environ: Mapping[str, str], settings: Settings, variables: Mapping[str, str], stop: anyio.Event
) -> AsyncIterator[Protection]:
    async with open_job_context(root, environ, settings, stop=stop, suite_variables=variables) as unprotected:
        write_first_outputs(make_publish_target(unprotected, {}))
        with protect_host_files(unprotected) as protection:
            yield protection


def is_developers_run(context: JobContext, find: FindSuites) -> bool:
    """Whether `scoregate run` runs the suites of a project on a developer's machine."""
    names_commands = context.settings.origin("commands") == COMMAND_LINE
    return find is find_suites and not names_commands and context.connection is None and not in_ci(context.environ)


def _make_recorder(
    context: JobContext,
    suite_environ: Mapping[str, str],
    load: LoadSteps,
    observers: Sequence[Observer],
    stop: anyio.Event,
    *,
    opened_by: OpenChild,
) -> Recorder:
    return Recorder(
        context.out,
        suite_environ,
        context.redact,
        partial(new_identity, context.environ),
        partial(list_layers, load),
        observers,
        stop,
        keep=0 if in_ci(context.environ) else context.settings.keep_runs,
        branch=context.subject.branch if context.subject else read_ci_job(context.environ).branch or None,
        attempt=context.connection.github.run_attempt if context.connection else 1,
        open_child=opened_by,
        skip_missing=context.skips_missing,
    )


async def _read_previous_run(context: JobContext) -> Run | None:
    """The run in the folder to which the next run is written. In a job it is not read: its origin is unknown."""
    if context.connection is not None:
        return None
    try:
        return await anyio.to_thread.run_sync(read_run, context.out / RUN_FOLDER)
    except RecordError:
        return None


def _make_suite_environment(
    context: JobContext,
    variables: Mapping[str, str],
    scratch: Path,
    identity: Identity | None,
) -> dict[str, str]:
    """The environment that suites get a part of."""
    home = with_home(identity, context.environ, scratch, readable=True)
    return {**variables, **home, **_budget_environment(context.settings, scratch, identity)}


def _budget_environment(settings: Settings, scratch: Path, identity: Identity | None) -> dict[str, str]:
    """The variable with the path of the file in which processes add up their costs; empty without a budget."""
    if settings.max_cost is None and settings.max_tokens is None:
        return {}
    spent = scratch / "spent"
    spent.touch(mode=0o600)
    if identity is not None:
        identity.share(spent)
    return {"SCOREGATE_SPENT": str(spent)}


def _prepare(
    load: LoadSteps,
    host: SuiteHost,
    settings: Settings,
    sources: Sequence[SuiteSource],
    *,
    tree: Path | None = None,
) -> Awaitable[Interpreter]:
    if tree is not None:
        scratch = Path(tempfile.mkdtemp(prefix="tree-", dir=host.scratch))
        scratch.chmod(0o711)  # the users of suites may enter it
        host = replace(host, root=tree, scratch=scratch)
    return prepare(load, host, settings, sources)


async def _move_plan(
    environ: Mapping[str, str], identity: Identity | None, plan: Plan, tree: Path, settings: Settings
) -> Plan:
    from scoregate.kernel.job.base_rerun import plan_in_tree

    return await plan_in_tree(plan, tree, settings, environ, identity)


async def _plan_by_tree(
    environ: Mapping[str, str],
    identity: Identity | None,
    plan: Plan,
    tree: Path,
    settings: Settings,
    *,
    made_from: Path | None = None,
) -> tuple[Settings, Plan]:
    from scoregate.kernel.job.base_rerun import plan_by_tree

    return await plan_by_tree(plan, tree, settings, environ, identity, made_from=made_from)


async def _rerun_baseline(
    context: JobContext,
    load: LoadSteps,
    recorder: Recorder,
    record: RecordPlan,
    identity: Identity | None,
    find: FindSuites,
    plan: Plan,
    settings: Settings,
    *,
    folder: str = BASE_FOLDER,
    slots: Slots = NO_SLOTS,
) -> Baseline:
    from scoregate.kernel.job.base_rerun import rerun_baseline

    return await rerun_baseline(
        context, load, recorder, record, identity, find, plan, settings, folder=folder, slots=slots
    )
