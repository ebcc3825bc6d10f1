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
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from anyio import EndOfStream
from anyio.abc import ByteReceiveStream, Process

from scoregate.ci import orphans
from scoregate.ci.isolation import kill_account
from scoregate.ci.secrets import LONGEST, Redactor
from scoregate.ci.user_ids import Identity, process_rights

if TYPE_CHECKING:
    import psutil

_GRACE_S = 3.0
_LAST_OUTPUT_S = 1.0
_LONGEST_LINE = 8_000
_TAIL_LINES = 40
OnLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ChildProcess:
    """A process to start.

    Args:
        argv: the command.
        cwd: the folder to start it in.
        environment: all of its variables.
        mark: a value among them that no other child has; its descendants are found by it. It holds no line break.
        identity: the user to start it as; None for the host's own.
        timeout_s: the limit of its duration; None for no limit.
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    mark: str
    identity: Identity | None = None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
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
    def last(self) -> str:
        """The last line that is not blank."""
        return next((line.strip() for line in reversed(self._lines) if line.strip()), "")


async def run_child(child: ChildProcess, on_line: OnLine, redact: Redactor) -> ChildExit:
    """Run a process; whatever happens, cancellation too, nothing that it started is left afterwards.

    Args:
        child: the process.
        on_line: is called with every line of its output, bounded in length.
        redact: removes known secrets from the lines.

    Raises:
        OSError: it can't be started.
    """
    with _watched(child.mark) as watch:
        process = await anyio.open_process(
            child.argv,
            cwd=child.cwd,
            env=child.environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,  # one stream keeps the order: a secret is declared before it is used
            start_new_session=True,
            **process_rights(child.identity),
        )
        watch(process.pid)
        async with process:
            timed_out, left = await _wait(process, child, on_line, redact)
    return ChildExit(process.returncode, timed_out, left)


async def _wait(
    process: Process, child: ChildProcess, on_line: OnLine, redact: Redactor
) -> tuple[bool, tuple[int, ...]]:
    """Wait for the end; True if the limit was reached, and the processes that could not be killed."""
    left: tuple[int, ...] = ()
    try:
        async with anyio.create_task_group() as readers:
            assert process.stdout is not None
            readers.start_soon(_pass_lines, process.stdout, on_line, redact)
            with anyio.move_on_after(child.timeout_s) as limit:
                await process.wait()
            if limit.cancelled_caught:
                await _stop_tree(process, child.mark, child.identity)
            # What is left of its group would hold the pipes open.
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
    """The lines of a stream of bytes, without secrets; a line that is too long is cut, with its length.

    A secret that a line declares is redacted from the next line on. It is also found where a long line is cut.
    """
    rest = b""
    try:
        while True:
            *complete, rest = (rest + await stream.receive()).split(b"\n")
            for line in complete:
                yield _clean(line, redact)
            if len(rest) > LONGEST + _LONGEST_LINE:
                settled, unsettled = redact.settled(rest.decode("utf-8", "surrogateescape"))
                yield _cut(settled)
                rest = unsettled.encode("utf-8", "surrogateescape")
    except EndOfStream:
        if rest:
            yield _clean(rest, redact)


def _clean(line: bytes, redact: Redactor) -> str:
    text = line.rstrip(b"\r").decode("utf-8", "surrogateescape")
    redact.listen(text)
    return _cut(redact.text(text))


def _cut(text: str) -> str:
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}… ({len(text):,} characters)"


async def _stop_tree(process: Process, mark: str, identity: Identity | None) -> None:
    """Ask the child's process group to end, then kill it and all its descendants."""
    with anyio.CancelScope(shield=True):
        descendants = _descendants(process)
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


def _descendants(process: Process) -> list[psutil.Process]:
    """The children, their children and so on: their environment may be another one, without the mark."""
    import psutil

    with contextlib.suppress(psutil.Error):
        return psutil.Process(process.pid).children(recursive=True)
    return []


def _kill(processes: Iterable[psutil.Process]) -> None:
    import psutil

    for each in processes:
        with contextlib.suppress(psutil.Error):
            each.kill()


async def _kill_remaining(process: Process, mark: str, identity: Identity | None) -> tuple[int, ...]:
    """Kill what is left of a child; returns the processes of its account that could not be killed."""
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
def _watched(mark: str) -> Iterator[Callable[[int], None]]:
    """The watchdog knows a child by its mark until the block ends; the value reports the child's process id."""
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
    """Write a line for the watchdog; the first line starts it. It ends when our process ends and closes the pipe.

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
    {"GITHUB_TOKEN", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}
)
# Variables that a runner's host leaks into its steps, and that would mislead the interpreter that we chose.
_LEAKS = frozenset({"LD_LIBRARY_PATH", "pythonLocation", "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "PYTHONHOME"})
_SHORTEST = 8


def visible_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The host's environment without CI's tokens, inputs and command files, in whatever variable a token is."""
    tokens = {value for name, value in environ.items() if _is_token(name, value)}
    return {
        name: value
        for name, value in environ.items()
        if not _is_forbidden(name, environ) and not any(token in value for token in tokens)
    }


def _is_token(name: str, value: str) -> bool:
    is_from_ci = name.startswith((*_PREFIXES, "GITHUB_", "SCOREGATE_"))
    return is_from_ci and name.endswith("TOKEN") and len(value) >= _SHORTEST


def _is_forbidden(name: str, environ: Mapping[str, str]) -> bool:
    if name in _NAMES or name.startswith(_PREFIXES):
        return True
    leaked = name in _LEAKS or name.startswith("UV_PYTHON")
    return leaked and environ.get("GITHUB_ACTIONS") == "true"
