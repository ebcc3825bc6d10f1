"""The command line, run in the process of the tests.

A child process imports for half a second of processor time before it does anything. Most tests only need what a
command prints, writes and returns, so they call it here: with a working directory, an environment and standard streams
of its own. Suites that it launches are processes, forked from one that has scoregate imported. Where the process itself
is the subject (signals, exit, encodings, a terminal), tests start one.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import io
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from tests.warm_scripts import warm_scripts

_LIMIT_S = 180
_READ_AT_START = ("LC_ALL", "LC_CTYPE", "PYTHONIOENCODING", "PYTHONPATH", "PYTHONPROFILEIMPORTTIME", "PYTHONUTF8")


def run_cli(
    *arguments: str, cwd: Path, environ: Mapping[str, str], text: bytes = b"", merge_stderr: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command and return what a finished child process would have left.

    It is a child process after all where Python reads a variable when it starts.

    Args:
        arguments: what follows `scoregate` on the command line.
        cwd: the working directory.
        environ: the whole environment of the command.
        text: what it reads from its standard input.
        merge_stderr: whether standard error goes to standard output, in the order in which both are written.
    """
    if any(environ.get(name) != os.environ.get(name) for name in _READ_AT_START):
        return _run_process(arguments, cwd, environ, text, merge_stderr)
    with ExitStack() as stack:
        source, out = stack.enter_context(tempfile.TemporaryFile()), stack.enter_context(tempfile.TemporaryFile())
        err = out if merge_stderr else stack.enter_context(tempfile.TemporaryFile())
        source.write(text)
        source.seek(0)
        with (
            _time_limit(_LIMIT_S),
            _modules(cwd),
            _surroundings(cwd, environ),
            _streams(source, out, err),
            warm_scripts(),
            _no_loop(),
            _same_interrupt(),
        ):
            code = contextvars.copy_context().run(_run, list(arguments))
        return subprocess.CompletedProcess(arguments, code, _text(out), "" if merge_stderr else _text(err))


def _run_process(
    arguments: tuple[str, ...], cwd: Path, environ: Mapping[str, str], text: bytes, merge_stderr: bool
) -> subprocess.CompletedProcess[str]:
    process = subprocess.run(
        [sys.executable, "-m", "scoregate", *arguments],
        cwd=cwd,
        env=environ,
        input=text.decode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merge_stderr else subprocess.PIPE,
        encoding="utf-8",
        timeout=_LIMIT_S,
        check=False,
    )
    return subprocess.CompletedProcess(arguments, process.returncode, process.stdout, process.stderr or "")


def _run(arguments: list[str]) -> int:
    run: Callable[[list[str]], int] = importlib.import_module("scoregate.cli.main").run_cli
    try:
        return run(arguments)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)


def _text(file: BinaryIO) -> str:
    """What was written, with line endings as `subprocess` reads them."""
    file.seek(0)
    return io.IncrementalNewlineDecoder(None, translate=True).decode(file.read().decode(), final=True)


@contextmanager
def _surroundings(cwd: Path, environ: Mapping[str, str]) -> Iterator[None]:
    """A working directory and an environment for this process."""
    folder, ours, umask = Path.cwd(), dict(os.environ), os.umask(0o022)
    os.umask(umask)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(ours)
        os.chdir(folder)
        os.umask(umask)


@contextmanager
def _no_loop() -> Iterator[None]:
    """A command starts a loop of its own, also in tests with a browser, whose loop waits meanwhile."""
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)


@contextmanager
def _same_interrupt() -> Iterator[None]:
    """asyncio doesn't ignore SIGINT after a command, although tests in the background of a shell do.

    What starts then would differ from what is forked for it.
    """
    previous = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def _streams(source: BinaryIO, out: BinaryIO, err: BinaryIO) -> Iterator[None]:
    """The standard streams, as Python objects and as the file descriptors that child processes inherit."""
    previous = sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__
    descriptors = [os.dup(number) for number in range(3)]
    for number, file in enumerate((source, out, err)):
        os.dup2(file.fileno(), number)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # type: ignore[misc] # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # type: ignore[misc] # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", 1, "utf-8", "replace", closefd=False)  # type: ignore[misc] # noqa: SIM115
    streams = sys.stdin, sys.stdout, sys.stderr
    try:
        yield
    finally:
        for stream in streams:
            stream.close()
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__ = previous  # type: ignore[misc]


@contextmanager
def _modules(cwd: Path) -> Iterator[None]:
    """Forget modules that a command imports from its project: the next project has others of the same name."""
    path, root = sys.path[:], str(cwd.resolve())
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(f"{root}{os.sep}"):
                del sys.modules[name]


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"the command has not ended within {seconds} s")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
