"""Launch scripts as child processes, and emit what happens while they run."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from scoregate.errors import DiskFull
from scoregate.kernel.host.isolation.shared_tree import release, remove_tree
from scoregate.kernel.host.process import (
    ChildProcess,
    OpenChild,
    OutputTail,
    open_child,
    run_child,
    visible_environment,
)
from scoregate.kernel.host.runner import find_workspace
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.host.user_ids import Identity, with_home
from scoregate.kernel.run.launch.layer import (
    EmitEvent,
    Finished,
    LaunchLayer,
    LeftResults,
    MakeEnvironment,
    Notice,
    Printed,
    ResultWatch,
    Started,
)
from scoregate.kernel.run.launch.tail import LogTailer, RecordedTests
from scoregate.kernel.run.plan import Launch, list_import_folders
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.frames import find_user_frames
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Script

if TYPE_CHECKING:  # most runs record no dependencies
    from scoregate.kernel.run.dependencies.head_checkout import HeadCheckout
    from scoregate.kernel.run.dependencies.recording import UseRecorder

_POLL_S = 0.05
# A script that fails with less space on the disk of its events may have lost some.
_LEAST_SPACE = 16 * 1024
_EXITED = "Exited"
_PACKAGES = {"scoregate": "scoregate", "autoblocks": "autoblocksai", "pytest": "pytest"}
# As an import reports it, and as `python -m` does.
_MISSING = re.compile(rf"No module named '?({'|'.join(_PACKAGES)})\b")


def no_identity() -> None:
    """No user of its own: the launch runs as the host's user."""


@record
class Host:
    """What all launches of a plan share.

    Args:
        root: the repository.
        environ: the host's environment, of which a child gets a part.
        redact: removes known secrets from what is recorded.
        new_identity: the user that the next launch runs as; None for the host's own.
        timeout_s: the limit of a script's duration; None for no limit.
        max_scripts: how many run at once.
        layers: what features add to each launch. Environments pass through the last one first, and events, too.
        open_child: starts the process of a launch.
        uses: records what the launches depend on, or what a base opens of a change; None if that is not recorded.
    """

    root: Path
    environ: Mapping[str, str]
    redact: Redactor
    new_identity: Callable[[], Identity | None] = no_identity
    timeout_s: float | None = None
    max_scripts: int = 1
    layers: Sequence[LaunchLayer] = ()
    open_child: OpenChild = open_child
    uses: UseRecorder | HeadCheckout | None = None


async def launch_all(launches: Iterable[Launch], host: Host, emit: EmitEvent) -> None:
    """Launch scripts, `host.max_scripts` at a time, and emit what happens until the last has ended.

    If it is cancelled, it ends them all with everything that they started, and still emits what they had reported.
    """
    # One iterator for all workers: each takes the next launch, so none is launched twice.
    queue = iter(tuple(launches))

    async def work() -> None:
        for launch in queue:
            await run_script(launch, host, emit)

    async with anyio.create_task_group() as workers:
        for _ in range(max(1, host.max_scripts)):
            workers.start_soon(work)


async def run_script(launch: Launch, host: Host, emit: EmitEvent) -> None:
    """Run a script from start to end; however it ends, its event logs are read to their last line."""
    changes = list[MakeEnvironment]()
    with ExitStack() as sessions:
        for layer in host.layers:
            change, emit = sessions.enter_context(layer.open_session(launch, emit))
            changes.insert(0, change)
        await _run_script(launch, host, emit, changes)


async def _run_script(launch: Launch, host: Host, emit: EmitEvent, changes: Sequence[MakeEnvironment]) -> None:
    async with _temporary_folder() as folder:
        identity = host.new_identity()
        events = folder / "events"
        events.mkdir(mode=0o700)
        if identity is not None:
            # The host keeps the folder above it, so that no process can replace the folder of event logs.
            folder.chmod(0o711)  # others may pass through it, but can't list it
            identity.give(events)
        environ = with_home(identity, host.environ, folder) if identity and identity.shared else host.environ
        tailer = LogTailer(launch.name, events, host.redact)
        recorded = RecordedTests(launch)
        emit = recorded.watch(emit)
        emit(Started(launch.name))
        environment = child_environment(environ, launch, events=events, root=host.root)
        for change in changes:
            environment = change(environment)
        # Before the start of the child: files that exist by now are not its results.
        results = await _watch_results(launch, host.layers, environment, folder, identity)
        environment |= results.environment if results is not None else {}
        if host.uses is not None:
            environment = host.uses.open_log(launch, environment, folder, identity)
        started = perf_counter()
        try:
            async with anyio.create_task_group() as tailing:
                tailing.start_soon(_tail_logs, tailer, emit)
                async with _connect(launch, host.layers, environment, emit) as connected:
                    script = await _run(launch, connected, events, identity, host, emit=emit)
                tailing.cancel_scope.cancel()  # it has no end of its own
        finally:
            # A read returns what was complete at the previous one, so the second read gets the rest.
            for event in chain.from_iterable(read() for read in (tailer.read, tailer.read, tailer.close)):  # lazily
                emit(event)
        # After the logs are read, and before a result is made of an incomplete log.
        _refuse_full_disk(script, events)
        problem = None if host.uses is None else host.uses.close_log(launch, folder)
        script = await _add_results(script, results, emit, recorded)
        script = script if problem is None else replace(script, error=problem, tests_failed=False)
        emit(Finished(replace(script, duration_s=round(perf_counter() - started, 3), expected=launch.source.expected)))


async def _watch_results(
    launch: Launch,
    layers: Sequence[LaunchLayer],
    environment: Mapping[str, str],
    folder: Path,
    identity: Identity | None,
) -> ResultWatch | None:
    for layer in layers:
        if (watch := await layer.watch_results(launch, environment, folder, identity)) is not None:
            return watch
    return None


@asynccontextmanager
async def _connect(
    launch: Launch, layers: Sequence[LaunchLayer], environment: dict[str, str], emit: EmitEvent
) -> AsyncIterator[dict[str, str]]:
    """The environment with what leads a child to the connections of layers, which end with the block."""
    async with AsyncExitStack() as connections:
        for layer in layers:
            change = await connections.enter_async_context(layer.connect(launch, emit))
            environment = change(environment)
        yield environment


def _refuse_full_disk(script: Script, events: Path) -> None:
    if script.exit_code and shutil.disk_usage(events).free < _LEAST_SPACE:
        raise DiskFull(
            f"the disk of {tempfile.gettempdir()} is full, so the results of {script.name} are incomplete",
            advice="Free some space, or set TMPDIR to a folder of another disk.",
        )


@asynccontextmanager
async def _temporary_folder() -> AsyncIterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="scoregate-events-"))
    try:
        yield folder
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove_tree, folder)


def child_environment(environ: Mapping[str, str], launch: Launch, *, events: Path, root: Path) -> dict[str, str]:
    """The part of the host's environment that a child may see, and the variables that a suite needs.

    Args:
        environ: the host's environment.
        launch: the script that is started.
        events: the folder that its logs go to.
        root: the repository. It and its `src` are on the import path, so that a base uses its own code.
    """
    visible = {**visible_environment(environ), **launch.environment}
    visible.pop("OLDPWD", None)  # of the host's shell, as PWD
    path = visible.get("PYTHONPATH")
    folders = path.split(os.pathsep) if path else []
    own = list_import_folders(root, launch.source.import_folders)
    return {
        **visible,
        # Some programs ask this before the system, and would work in the folder of the host.
        "PWD": str(launch.cwd),
        # The user's own folders stay first, so that a script imports what it imports without scoregate.
        "PYTHONPATH": os.pathsep.join((*folders, *(folder for folder in own if folder not in folders))),
        "PYTHONUNBUFFERED": "1",  # a killed script has printed all that it said
        "SCOREGATE_EVENTS": str(events),
        "SCOREGATE_ROOT": str(root),
    }


async def _tail_logs(tailer: LogTailer, emit: EmitEvent) -> None:
    while True:
        for event in tailer.read():
            emit(event)
        await anyio.sleep(_POLL_S)


async def _run(
    launch: Launch,
    environment: Mapping[str, str],
    events: Path,
    identity: Identity | None,
    host: Host,
    *,
    emit: EmitEvent,
) -> Script:
    tail = OutputTail()
    # The program by its name, because its path describes this machine and not the run.
    command = (Path(launch.argv[0]).name, *map(host.redact.text, launch.argv[1:]))

    def on_line(line: str) -> None:
        tail.add(line)
        emit(Printed(launch.name, line))

    try:
        argv = launch.argv if host.uses is None else host.uses.add_boot(launch.argv)
        child = ChildProcess(argv, launch.cwd, environment, str(events), identity, host.timeout_s)
        end = await run_child(child, on_line, host.redact, opened_by=host.open_child)
    except OSError as error:
        message = f"can't start {launch.argv[0]!r}: {error.strerror}"
        advice = "Check its spelling, and that the program is installed."
        return Script(launch.name, command, error=ErrorInfo(type(error).__name__, message, advice=advice))
    finally:
        if identity is not None and identity.shared is not None and identity.owns:
            # Give a suite's files to the workspace's owner, so that later suites have rights to them.
            owner = identity.shared.stat()
            # Also if the run is cancelled: later steps of the job run as the owner of the workspace.
            with anyio.CancelScope(shield=True):
                for folder in {host.root, find_workspace(host.environ)}:
                    await anyio.to_thread.run_sync(release, folder, identity.uid, owner)
    error_info = _error(end.exit_code, tail, host.root, timeout_s=host.timeout_s if end.timed_out else None)
    # Processes that can't be killed may still write files, so no exit code makes the script measured.
    if end.left:
        error_info = ErrorInfo("ProcessesLeft", f"{len(end.left)} of its processes can't be killed", str(tail))
    return Script(launch.name, command, end.exit_code, end.timed_out, error=error_info)


def _error(exit_code: int | None, tail: OutputTail, root: Path, *, timeout_s: float | None) -> ErrorInfo | None:
    if timeout_s is not None:
        message = f"stopped at the limit of {timeout_s:g} s"
        return ErrorInfo("TimedOut", message, str(tail), "Set a higher `timeout`, or run fewer cases.")
    if not exit_code:
        return None
    errors = tail.errors
    missing = _MISSING.search(errors)
    package = _PACKAGES[missing[1]] if missing is not None else ""
    advice = f"Install {package} in the environment that runs the suites, or set `python`." if package else ""
    reason = f"killed by {signal.Signals(-exit_code).name}" if exit_code < 0 else f"exit code {exit_code}"
    if exit_code == -signal.SIGKILL:
        advice = "If memory was short, run fewer cases (`concurrency`) or scripts (`max_suites`) at a time."
    text = f"{reason}: {errors}{_find_place(str(tail), root)}" if errors else reason
    return ErrorInfo(_EXITED, text, str(tail), advice)


def _find_place(output: str, root: Path) -> str:
    """The last line of the project's code in a traceback, as ` (evals/eval_x.py:12)`; empty if there is none."""
    frames = [frame for frame in find_user_frames(output) if frame.file.startswith(f"{root}{os.sep}")]
    return f" ({frames[-1]._replace(code='').describe(str(root))})" if frames else ""


async def _add_results(script: Script, results: ResultWatch | None, emit: EmitEvent, recorded: RecordedTests) -> Script:
    """Emit the result files that a script left; a script that did not run to its end left none."""
    if script.exit_code is None or script.timed_out:
        return script
    left = LeftResults() if results is None else await results.emit(emit, recorded.cases)
    is_explained = script.exit_code in left.failed_exits or recorded.explain(script.exit_code)
    # A result file that can't be read may hold other failures than those that explain the exit code.
    if script.error is not None and script.error.type == _EXITED and is_explained and not left.failures:
        if left.note:
            emit(Notice(script.name, left.note))
        return replace(script, error=None, tests_failed=True)
    if left.failures and script.error is None:
        message = "; ".join(failure.message for failure in left.failures)
        return replace(script, error=ErrorInfo("ImportFailed", message, advice=left.failures[0].advice))
    # The script failed by itself, so unreadable files are only a notice.
    for failure in left.failures:
        emit(Notice(script.name, failure.message))
    return script
