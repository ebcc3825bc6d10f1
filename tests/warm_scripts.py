"""Start the scripts of a command in processes that are forked from one that has scoregate imported.

The imports are most of what a small suite costs, and the tests start more than a thousand. A forked process is a real
process in its own session, with its own folder, environment and output. What Python reads when it starts has to be
equal; else, and for all other commands, a new Python starts.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TextIO
from unittest.mock import patch

import anyio
from _pytest.config import default_plugins
from anyio.abc import ByteReceiveStream, Process

_SOURCE = Path(__file__).with_name("forked_script.py")
# Text in an own namespace leaves `__main__` to the script.
_START = 'import sys; exec(compile(sys.argv[1], "<string>", "exec"), {"__name__": "scoregate"})'
READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "DYLD_", "TZ", "MALLOC_", "GLIBC_", "COVERAGE_", "PYDANTIC_")
WORKER = "scoregate.worker"
# The file descriptor by which a forked script asks for suites.
SUITES_VARIABLE = "TESTS_WARM_SUITES"
# Not the plug-in: pytest changes the assertions of plug-ins when it imports them.
PYTEST = ("pytest", *(f"_pytest.{name}" for name in default_plugins))
_LIKE_A_SUITE = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "start_new_session": True}
_OPEN = anyio.open_process
_LONGEST_S = 300
# The host wants the output of scripts at once.
_ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith("SCOREGATE_")}
_ENVIRON["PYTHONUNBUFFERED"] = "1"


@contextlib.contextmanager
def warm_scripts() -> Iterator[None]:
    """Fork the scripts that are started in this block."""
    with patch.object(anyio, "open_process", _open_process):
        yield


async def _open_process(command: Any, *, cwd: Any = None, env: Any = None, **options: Any) -> Process:
    if options == _LIKE_A_SUITE and _is_script(command, cwd, env) and _startup(env) == _startup(_ENVIRON):
        with contextlib.suppress(OSError):  # the environment is too large for a message
            modules = PYTEST if "pytest" in command else ()
            return await server(*modules).start(list(map(str, command)), str(cwd), dict(env))
    return await _OPEN(command, cwd=cwd, env=env, **options)


def _is_script(command: Any, cwd: Any, environ: Any) -> bool:
    """Whether it is `python SCRIPT`, the runner of data suites, or pytest without the plug-ins that are installed.

    Python is the one that runs the tests, and the system can wait for the process.
    """
    if str(command[0]) != sys.executable or not hasattr(os, "pidfd_open"):
        return False
    if tuple(command[1:3]) == ("-m", WORKER) or tuple(command[1:4]) == ("-I", "-m", WORKER):
        return True
    if tuple(command[1:3]) == ("-m", "pytest"):
        return "PYTEST_DISABLE_PLUGIN_AUTOLOAD" in environ
    return len(command) == 2 and str(command[1]).endswith(".py") and Path(cwd, command[1]).is_file()


def _startup(environ: Any) -> dict[str, str]:
    """What Python reads when it starts; the server takes over PYTHONPATH."""
    return {name: value for name, value in environ.items() if name.startswith(READ_AT_START) and name != "PYTHONPATH"}


def run_script(
    script: Path, environ: Mapping[str, str], modules: Sequence[str] = (), cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a script to its end in a forked process.

    Args:
        script: the script.
        environ: its environment, besides what Python reads when it starts.
        modules: what else is imported before the process is forked, as a script may that asks models.
        cwd: its folder, else the script's.
    """
    environment = {**_startup(_ENVIRON), **environ}
    with tempfile.TemporaryFile() as errors:
        done = _run([str(script)], environment, modules, cwd or script.parent, errors.fileno())
        errors.seek(0)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout, errors.read().decode())


def run_pytest(arguments: Sequence[str], environ: Mapping[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `python -m pytest` to its end, forked from a process that has pytest imported; errors go to its output."""
    return _run(["-m", "pytest", *arguments], environ, PYTEST, cwd, None)


def _run(
    arguments: list[str], environ: Mapping[str, str], modules: Sequence[str], folder: Path, errors: int | None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    if not hasattr(os, "pidfd_open"):
        return subprocess.run(
            command,
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors is None else errors,
            text=True,
            timeout=_LONGEST_S,
            check=False,
        )

    async def run() -> tuple[int, bytes]:
        async with await server(*modules).start(command, str(folder), dict(environ), errors) as process:
            assert process.stdout is not None
            with anyio.fail_after(_LONGEST_S):
                output = b"".join([part async for part in process.stdout])
                return await process.wait(), output

    code, output = anyio.run(run)
    return subprocess.CompletedProcess(command, code, output.decode(errors="replace"), "")


def start_code(code: str, *words: str, cwd: Path, environ: Mapping[str, str]) -> Started | subprocess.Popen[str]:
    """Start `python -c` in a forked process. It has what `subprocess.Popen` has, as far as tests use it.

    Args:
        code: the code.
        words: its arguments.
        cwd: its folder.
        environ: its environment, besides what Python reads when it starts.
    """
    command, environment = [sys.executable, "-c", code, *words], {**_startup(_ENVIRON), **environ}
    if not hasattr(os, "pidfd_open"):
        return subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.PIPE, text=True)
    process = anyio.run(server().start, command, str(cwd), environment, 2)
    assert isinstance(process, _Forked)
    return Started(process.pid, process.status.handle, os.fdopen(process.output.handle, encoding="utf-8"))


@dataclass
class Started:
    """A forked process for tests that are not asynchronous."""

    pid: int
    status: int
    stdout: TextIO
    returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self.status], [], [], 0)[0]:
            return self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self.status], [], [], timeout)[0]:
                raise TimeoutError(f"the process has not ended within {timeout} s")
            with os.fdopen(self.status, encoding="utf-8") as status:
                self.returncode = int(status.readline())
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """What it printed until its end."""
        with self.stdout:
            output = self.stdout.read()
        self.wait(timeout)
        return output, None

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)


@cache
def server(*modules: str) -> Server:
    """The process that is forked; it has these modules imported besides scoregate's."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-c", _START, _SOURCE.read_text(encoding="utf-8"), *modules],
        stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", env=_ENVIRON,
        start_new_session=True,
    )  # fmt: skip
    theirs.close()
    return Server(process, ours)


@dataclass
class Server:
    """The process that is forked. It ends with this one, which closes the socket."""

    process: subprocess.Popen[bytes] | None
    requests: socket.socket

    async def start(
        self,
        command: list[str],
        cwd: str,
        environ: dict[str, str],
        errors: int | None = None,
        suites: Server | None = None,
    ) -> Process:
        """Start a script; its standard error is its output, unless there is a file descriptor for it.

        Args:
            command: Python and its arguments.
            cwd: the folder of the script.
            environ: its environment.
            errors: the file descriptor of its standard error.
            suites: the process that forks the suites that the script starts; only with `errors`.
        """
        output, their_output = os.pipe()
        status, their_status = os.pipe()
        # A process inherits that its parent ignores ^C, as one in the background of a shell does.
        is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        text = json.dumps({"argv": command, "cwd": cwd, "environ": environ, "ignores_interrupt": is_ignored}).encode()
        try:
            kept = ([] if errors is None else [errors]) + ([] if suites is None else [suites.requests.fileno()])
            socket.send_fds(self.requests, [text], [their_output, their_status, *kept])
        except OSError:
            os.close(output)
            os.close(status)
            raise
        finally:
            os.close(their_output)
            os.close(their_status)
        lines = _Pipe(status)
        with anyio.CancelScope(shield=True):
            pid = await lines.receive_line()
        return _Forked(pid, lines, _Pipe(output))


@dataclass(eq=False)
class _Pipe(ByteReceiveStream):
    """The end of a pipe that is read."""

    handle: int

    async def receive(self, max_bytes: int = 65536) -> bytes:
        if self.handle < 0:
            raise anyio.ClosedResourceError
        await anyio.wait_readable(self.handle)
        if not (data := os.read(self.handle, max_bytes)):
            raise anyio.EndOfStream
        return data

    async def receive_line(self) -> int:
        line = b""
        while not line.endswith(b"\n"):
            line += await self.receive(1)
        return int(line)

    async def aclose(self) -> None:
        if self.handle >= 0:
            handle, self.handle = self.handle, -1
            anyio.notify_closing(handle)
            os.close(handle)
        await anyio.lowlevel.checkpoint()


@dataclass(eq=False)
class _Forked(Process):
    """A process of which the server reports how it ended."""

    number: int
    status: _Pipe
    output: _Pipe
    code: int | None = None

    async def wait(self) -> int:
        if self.code is None:
            self.code = await self.status.receive_line()
            await self.status.aclose()
        return self.code

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True) as scope:
            await self.output.aclose()
            scope.shield = False
            try:
                await self.wait()
            except BaseException:
                scope.shield = True
                self.kill()
                await self.wait()
                raise

    def send_signal(self, signal: int) -> None:
        if self.code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.number, signal)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    @property
    def pid(self) -> int:
        return self.number

    @property
    def returncode(self) -> int | None:
        return self.code

    @property
    def stdin(self) -> None:
        return None

    @property
    def stdout(self) -> ByteReceiveStream:
        return self.output

    @property
    def stderr(self) -> None:
        return None
