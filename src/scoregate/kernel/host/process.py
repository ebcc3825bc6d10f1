"""Child processes: started in their own group, with bounded output, and killed with all their descendants.

They end with the host, also if the host is killed: a watchdog process (`orphans.py`) gets the id of each while it runs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import anyio
import anyio.to_thread
from anyio import EndOfStream
from anyio.abc import ByteReceiveStream, Process

from scoregate.kernel.host import orphans
from scoregate.kernel.host.error_lines import find_error_lines
from scoregate.kernel.host.isolation.processes import kill_account
from scoregate.kernel.host.secrets import LONGEST, Redactor
from scoregate.kernel.host.user_ids import Identity, process_rights
from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    import psutil

_GRACE_S = 3.0
_LAST_OUTPUT_S = 5.0
_LONGEST_LINE = 8_000
_TAIL_LINES = 40
OnLine = Callable[[str], None]


@record
class ChildProcess:
    """A process to start.

    Args:
        argv: the command.
        cwd: the folder to start it in.
        environment: all of its variables.
        mark: a value in `environment` that no other child has, without a line break. It identifies the descendants.
        identity: the user to start it as; None for the host's own.
        timeout_s: the limit of its duration; None for no limit.
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    mark: str
    identity: Identity | None = None
    timeout_s: float | None = None


@record
class ChildExit:
    """How a process ended; a negative exit code is a signal. `left` are its processes that could not be killed."""

    exit_code: int | None
    timed_out: bool
    left: tuple[int, ...] = ()


class OutputTail:
    """The last lines of an output."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_TAIL_LINES)

    def add(self, line: str) -> None:
        """Add a line."""
        self._lines.append(line)

    def __str__(self) -> str:
        return "\n".join(self._lines)

    @property
    def errors(self) -> str:
        """The last lines that describe an error, joined; else the last line that isn't blank."""
        return find_error_lines(tuple(self._lines))


async def open_child(child: ChildProcess) -> Process:
    """Start a process, with one stream for both of its outputs.

    Raises:
        OSError: it can't be started.
    """
    return await anyio.open_process(
        child.argv,
        cwd=child.cwd,
        env=child.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,  # one stream keeps the order: a secret is declared before it is used
        start_new_session=True,
        **process_rights(child.identity),
    )


OpenChild: TypeAlias = Callable[[ChildProcess], Awaitable[Process]]


async def run_child(
    child: ChildProcess, on_line: OnLine, redact: Redactor, *, opened_by: OpenChild = open_child
) -> ChildExit:
    """Run a process. At the end, also if it is cancelled, every process that it started is killed.

    Args:
        child: the process.
        on_line: is called with every line of its output, bounded in length.
        redact: removes known secrets from the lines.
        opened_by: starts the process.

    Raises:
        OSError: it can't be started.
    """
    with _register_child(child.mark) as watch:
        process = await opened_by(child)
        watch(process.pid)
        async with process:
            timed_out, left = await _wait(process, child, on_line, redact)
    return ChildExit(process.returncode, timed_out, left)


async def _wait(
    process: Process, child: ChildProcess, on_line: OnLine, redact: Redactor
) -> tuple[bool, tuple[int, ...]]:
    """Wait for the end. Returns whether the limit was reached, and the processes that could not be killed."""
    left: tuple[int, ...] = ()
    try:
        async with anyio.create_task_group() as readers:
            assert process.stdout is not None
            readers.start_soon(_pass_lines, process.stdout, on_line, redact)
            with anyio.move_on_after(child.timeout_s) as limit:
                await process.wait()
            if limit.cancelled_caught:
                await _stop_tree(process, child.mark, child.identity)
            # Other processes of its group would keep the pipes open.
            _signal_group(process, signal.SIGKILL)
            if child.identity is not None:
                left = await _kill_remaining(process, child.mark, child.identity)
            readers.cancel_scope.deadline = anyio.current_time() + _LAST_OUTPUT_S
    except BaseException:
        await _stop_tree(process, child.mark, child.identity)
        raise
    return limit.cancelled_caught, left


async def _pass_lines(stream: ByteReceiveStream, on_line: OnLine, redact: Redactor) -> None:
    async for line in read_lines(stream, redact):
        on_line(line)


async def read_lines(stream: ByteReceiveStream, redact: Redactor) -> AsyncIterator[str]:
    """The lines of a stream of bytes, without secrets. A line that is too long is cut, and its length is added.

    A secret that a line declares is redacted from the next line on. A secret at the cut of a line is redacted, too.
    """
    rest = b""
    try:
        while True:
            *complete, rest = (rest + await stream.receive()).split(b"\n")
            for line in complete:
                yield _clean(line, redact)
            if len(rest) > LONGEST + _LONGEST_LINE:
                settled, unsettled = redact.redact_settled(rest.decode("utf-8", "surrogateescape"))
                yield _cut(settled)
                rest = unsettled.encode("utf-8", "surrogateescape")
    except EndOfStream:
        if rest:
            yield _clean(rest, redact)


def _clean(line: bytes, redact: Redactor) -> str:
    text = line.rstrip(b"\r").decode("utf-8", "surrogateescape")
    redact.learn_from(text)
    return _cut(redact.text(text))


def _cut(text: str) -> str:
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}… ({len(text):,} characters)"


async def _stop_tree(process: Process, mark: str, identity: Identity | None) -> None:
    """Ask the child's process group to end, then kill it and all its descendants."""
    import psutil

    with anyio.CancelScope(shield=True):
        # All descendants by parent process: some may have an environment without the mark.
        descendants: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            descendants = psutil.Process(process.pid).children(recursive=True)
        _signal_group(process, signal.SIGTERM)
        with anyio.move_on_after(_GRACE_S):
            await process.wait()
        _signal_group(process, signal.SIGKILL)
        _kill(descendants)
        await _kill_remaining(process, mark, identity)
        with anyio.move_on_after(_GRACE_S):
            await process.wait()


def _signal_group(process: Process, number: signal.Signals) -> None:
    """Send a signal to the group that the child leads; nothing happens if it is empty."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _kill(processes: Iterable[psutil.Process]) -> None:
    import psutil

    for each in processes:
        with contextlib.suppress(psutil.Error):
            each.kill()


async def _kill_remaining(process: Process, mark: str, identity: Identity | None) -> tuple[int, ...]:
    """Kill the remaining processes of a child; returns the processes of its account that could not be killed."""
    if identity is not None and identity.shared is not None:
        kill = partial(kill_account, identity.uid, identity.gid, child=process.pid)
        return await anyio.to_thread.run_sync(kill)
    if identity is None:
        orphans.kill_marked({mark})
        return ()
    # Only that user can read the environments of its processes: without SYS_PTRACE, root can't either.
    command = [sys.executable, "-I", orphans.__file__, mark]
    with contextlib.suppress(OSError), anyio.move_on_after(_GRACE_S):
        await anyio.run_process(
            command,
            cwd="/",
            env={},
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **process_rights(identity),
        )
    return ()


_watchdog_lock = threading.Lock()
_watchdog_pipe: list[int] = []
_NOT_STARTED = 0
_LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # some builds of Python do not start without


@contextlib.contextmanager
def _register_child(mark: str) -> Iterator[Callable[[int], None]]:
    """Register a child's mark with the watchdog until the block ends; call the value with the child's process id."""
    pids: list[int] = []

    def watch(pid: int) -> None:
        pids.append(pid)
        _write_to_watchdog(f"+{pid} {mark}\n")

    watch(_NOT_STARTED)
    try:
        yield watch
    finally:
        for pid in pids:
            _write_to_watchdog(f"-{pid} {mark}\n")


def _write_to_watchdog(line: str) -> None:
    """Write a line for the watchdog; the first line starts it. It ends when the host ends and closes the pipe.

    If no watchdog can be started, children end only if the host ends them.
    """
    with _watchdog_lock, contextlib.suppress(OSError):
        if not _watchdog_pipe:
            _watchdog_pipe.append(_start_watchdog())
        os.write(_watchdog_pipe[0], line.encode("utf-8", "surrogateescape"))


def _start_watchdog() -> int:
    read, write = os.pipe()
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", orphans.__file__],
            {name: os.environ[name] for name in _LIBRARIES if name in os.environ},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, read, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
    except OSError:
        os.close(write)
        raise
    finally:
        os.close(read)
    return write


_PREFIXES = ("INPUT_", "ACTIONS_")
_NAMES = frozenset(
    {
        "GITHUB_TOKEN",
        "GITHUB_OUTPUT",
        "GITHUB_ENV",
        "GITHUB_PATH",
        "GITHUB_STATE",
        "GITHUB_STEP_SUMMARY",
        # The shared history, with its password.
        "SCOREGATE_HISTORY",
        # Whoever knows these addresses can post to them.
        "SCOREGATE_ALERT_WEBHOOK",
        "SCOREGATE_SLACK_WEBHOOK",
        # Only the plan sets it; in the environment, it would leave out cases without a trace in the record.
        "SCOREGATE_SELECTION",
        "SCOREGATE_PARTS",
    }
)
# Variables that a runner leaks into its steps. They would mislead the interpreter that scoregate chooses.
_LEAKS = frozenset({"LD_LIBRARY_PATH", "pythonLocation", "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "PYTHONHOME"})
_SHORTEST = 8


def visible_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The host's environment without inputs, command files, and variables that contain a token of CI."""
    tokens = {
        value
        for name, value in environ.items()
        if name.startswith((*_PREFIXES, "GITHUB_", "SCOREGATE_")) and name.endswith("TOKEN") and len(value) >= _SHORTEST
    }
    in_github = environ.get("GITHUB_ACTIONS") == "true"
    visible = {}
    for name, value in environ.items():
        is_leak = in_github and (name in _LEAKS or name.startswith("UV_PYTHON"))
        is_forbidden = is_leak or name in _NAMES or name.startswith(_PREFIXES)
        if not is_forbidden and not any(token in value for token in tokens):
            visible[name] = value
    return visible


_T = TypeVar("_T")


async def run_until_stopped(stop: anyio.Event, work: Awaitable[_T], *, stopped: _T) -> _T:
    """Await the work and return its result; cancel it and return `stopped` when the event is set."""
    result = stopped

    async def end(scope: anyio.CancelScope) -> None:
        await stop.wait()
        scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(end, tasks.cancel_scope)
        result = await work
        tasks.cancel_scope.cancel()
    return result
