"""The process of an agent: its output line by line within limits, and the end of everything that it started."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from errno import EACCES, EISDIR, ENOENT
from functools import cache
from pathlib import Path
from secrets import token_hex

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from scoregate.errors import AgentError

MARK_VARIABLE = "SCOREGATE_AGENT_MARK"
MOST_OUTPUT_BYTES = 64 * 1024 * 1024
LONGEST_LINE = 16 * 1024 * 1024
_SHOWN_BYTES = 2_000
_DRAIN_S = 5.0
_END_S = 6.0
# Elsewhere, processes that leave the process group are not found.
_SUPERVISOR = (
    (sys.executable, "-I", "-S", str(Path(__file__).with_name("supervisor.py")))
    if sys.platform == "linux" and sys.executable
    else ()
)
_ISOLATION = ("unshare", "--user", "--map-current-user", "--net")


@dataclass(frozen=True, slots=True)
class AgentProcess:
    """A command line to run.

    Attributes:
        arguments: the program and its arguments.
        folder: where it runs.
        environment: its variables.
        stdin: its input; None for none.
        timeout: seconds until it is killed.
        network: whether it may use the network.
    """

    arguments: Sequence[str]
    folder: str
    environment: Mapping[str, str]
    stdin: str | None = None
    timeout: float = 600.0
    network: bool = True


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a process ended: its exit code, and the last of its standard error."""

    exit_code: int | None
    stderr: str


async def run_process(process: AgentProcess, on_line: Callable[[bytes], None]) -> ProcessEnd:
    """Run a process. At the end, whatever ends it, everything that it started is killed.

    Args:
        process: the command line.
        on_line: receives every line of its output; what it raises ends the process.

    Raises:
        AgentError: it can't be started, takes too long, or prints too much.
    """
    mark = token_hex(16)
    child = await _open(process, mark)
    errors: deque[bytes] = deque(maxlen=64)
    try:
        with anyio.fail_after(process.timeout):
            await _communicate(child, process.stdin, on_line, errors)
    except TimeoutError:
        raise AgentError(f"the agent took longer than {process.timeout:g} s and was killed") from None
    except BaseExceptionGroup as group:
        raise first_error(group) from None
    finally:
        with anyio.CancelScope(shield=True):
            if _SUPERVISOR:  # it kills its descendants when it gets SIGTERM
                with suppress(ProcessLookupError):
                    child.terminate()
                with anyio.move_on_after(_END_S):
                    await child.wait()
            # The agent may have killed its supervisor.
            kill_processes(child.pid, mark)
            await child.wait()
            await child.aclose()
    return ProcessEnd(child.returncode, b"".join(errors)[-_SHOWN_BYTES:].decode("utf-8", "replace").strip())


async def _open(process: AgentProcess, mark: str) -> Process:
    arguments = [*_SUPERVISOR, *(() if process.network else find_isolation()), *process.arguments]
    if problem := _explain_program(process):
        raise _not_started(process, problem)
    try:
        return await anyio.open_process(
            arguments,
            cwd=process.folder,
            env={**move_environment(process.environment, process.folder), MARK_VARIABLE: mark},
            stdin=subprocess.DEVNULL if process.stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # so that `kill_processes` can end the whole group
        )
    except (OSError, ValueError) as error:  # ValueError: a prompt with a null character
        raise _not_started(process, str(getattr(error, "strerror", None) or error)) from None


def move_environment(environ: Mapping[str, str], folder: str) -> dict[str, str]:
    """The environment of a program that runs in another folder.

    Args:
        environ: the environment here.
        folder: where the program runs.
    """
    # Some programs ask PWD before the system, and would work in the folder of the suite.
    return {**{name: value for name, value in environ.items() if name != "OLDPWD"}, "PWD": folder}


def _explain_program(process: AgentProcess) -> str:
    """Why the program can't be started; empty if it can be."""
    name = process.arguments[0]
    path = Path(process.folder, name)
    if "/" not in name:
        return "" if shutil.which(name, path=process.environment.get("PATH")) else os.strerror(ENOENT)
    if not path.is_file():
        return os.strerror(EISDIR if path.is_dir() else ENOENT)
    return "" if os.access(path, os.X_OK) else os.strerror(EACCES)


def _not_started(process: AgentProcess, problem: str) -> AgentError:
    return AgentError(
        f"{process.arguments[0]} can't be started: {problem}",
        advice="Install the agent, or give its command line: command_agent([...]).",
    )


async def _communicate(
    child: Process, stdin: str | None, on_line: Callable[[bytes], None], errors: deque[bytes]
) -> None:
    assert child.stdout is not None
    assert child.stderr is not None
    async with anyio.create_task_group() as tasks:
        output = _LineReader(child.stdout, on_line)
        tasks.start_soon(output.read)
        tasks.start_soon(keep_last, child.stderr, errors)
        if child.stdin is not None:
            # In parallel: an agent that writes before it reads would wait for ever.
            tasks.start_soon(_write, child.stdin, (stdin or "").encode())
        await child.wait()
        # A process that it left behind may keep the streams open.
        with anyio.move_on_after(_DRAIN_S):
            await output.ended.wait()
        tasks.cancel_scope.cancel()


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first exception of a group that is no group itself."""
    first = group.exceptions[0]
    return first_error(first) if isinstance(first, BaseExceptionGroup) else first


class _LineReader:
    """Reads the output of a process line by line; `ended` is set at its end."""

    def __init__(self, stream: ByteReceiveStream, on_line: Callable[[bytes], None]) -> None:
        self.ended = anyio.Event()
        self._stream, self._on_line = stream, on_line

    async def read(self) -> None:
        rest, total = b"", 0
        async for chunk in self._stream:
            total += len(chunk)
            if total > MOST_OUTPUT_BYTES or len(rest) > LONGEST_LINE:
                raise AgentError(
                    f"the agent printed more than {MOST_OUTPUT_BYTES >> 20} MB, or a line that is too long"
                )
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._on_line(line)
        if rest:
            self._on_line(rest)
        self.ended.set()


async def keep_last(stream: ByteReceiveStream, chunks: deque[bytes]) -> None:
    """Keep the end of a stream in a deque with a maximum length."""
    async for chunk in stream:
        chunks.append(chunk[-_SHOWN_BYTES:])


async def _write(stream: ByteSendStream, data: bytes) -> None:
    # An agent may end, or close its input, before it has read all.
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await stream.send(data)
        await stream.aclose()


def kill_processes(pid: int, mark: str) -> None:
    """Kill the process group, and processes that left it, by the mark in their environment (Linux only)."""
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    wanted = f"{MARK_VARIABLE}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):  # a process that left the group still has its environment
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)


@cache
def find_isolation() -> Sequence[str]:
    """The start of a command line that takes away the network.

    Raises:
        AgentError: this machine has no way to do it.
    """
    if shutil.which(_ISOLATION[0]) is not None:
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run([*_ISOLATION, "true"], check=True, capture_output=True, timeout=10)
            return _ISOLATION
    raise AgentError(
        "the agent must run without network, and this machine can't take it away",
        advice="It needs Linux with unprivileged user namespaces (unshare --user --net). Or set network=True.",
    )
