"""Processes that wait with scoregate imported, so that `scoregate run --watch` starts suites without that delay."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import anyio
from anyio.abc import Process

from scoregate.kernel.host.process import ChildProcess, open_child
from scoregate.kernel.types.records import record

_SOURCE = Path(__file__).with_name("warm_child.py")
# Text in an own namespace leaves `__main__` to the script.
_START = 'import sys; exec(compile(sys.argv[1], "<string>", "exec"), {"__name__": "scoregate"})'
_MOST_WAITING = 4
_MOST_BYTES = 4 << 20
_FEWEST_ARGUMENTS = 2


@record
class FileUse:
    """What a script did with files of the project, by their absolute paths.

    Attributes:
        read: the files that it only read, with the modules that it imported.
        written: the files that it opened for writing.
        is_known: whether it can't have read others.
    """

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    is_known: bool = False


UNKNOWN = FileUse()


@record
class _Start:
    """What a waiting process was started with."""

    python: str
    cwd: Path
    environment: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class WarmProcesses:
    """Starts scripts in processes that wait, and knows which files the scripts used.

    Args:
        root: the project. Only its files are recorded.
        folder: an empty folder outside of the project.
    """

    root: Path
    folder: Path
    _waiting: deque[tuple[_Start, Process]] = field(default_factory=deque)
    _wanted: dict[_Start, int] = field(default_factory=dict)
    _records: dict[Path, Path] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=count)

    async def open_child(self, child: ChildProcess) -> Process:
        """Start a process. If it is a script, a waiting process takes it over.

        Raises:
            OSError: it can't be started.
        """
        if not _is_script(child):
            return await open_child(child)
        start = _start_of(child)
        self._wanted[start] = self._wanted.get(start, 0) + 1
        process = self._take(start) or await _open_waiting(start)
        record = self.folder / str(next(self._numbers))
        record.touch(mode=0o600)  # the child only appends, so the file has to exist
        script = child.cwd / child.argv[1]
        if (previous := self._records.get(script)) is not None:
            previous.unlink(missing_ok=True)  # a script that still runs writes on to its handle
        self._records[script] = record
        request = {
            "argv": child.argv,
            "environ": dict(child.environment),
            "root": str(self.root),
            "files": str(record),
        }
        assert process.stdin is not None
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # its exit code reports that it ended
            await process.stdin.send(json.dumps(request).encode())
            await process.stdin.aclose()
        return process

    async def refill(self) -> None:
        """Start the processes that wait for the next run: as many as the last run had scripts, up to a limit."""
        wanted = {start: min(number, _MOST_WAITING) for start, number in self._wanted.items()}
        self._wanted.clear()
        for start, number in wanted.items():
            for _ in range(number - sum(each == start for each, _ in self._waiting)):
                with suppress(OSError):
                    self._waiting.append((start, await _open_waiting(start)))
        while len(self._waiting) > _MOST_WAITING:
            await _discard(self._waiting.popleft()[1])

    async def close(self) -> None:
        """End the processes that wait."""
        while self._waiting:
            await _discard(self._waiting.pop()[1])

    def read_use(self, script: Path) -> FileUse:
        """What a script did when it ran last, or does now. Without a complete record, the use is unknown."""
        record = self._records.get(script)
        if record is None:
            return UNKNOWN
        try:
            with record.open("rb") as file:
                text = file.read(_MOST_BYTES)
        except OSError:
            return UNKNOWN
        entries = [os.fsdecode(each) for each in text.split(b"\0")[:-1]]
        paths = {kind: frozenset(each[1:] for each in entries if each[:1] == kind) for kind in "rw"}
        is_known = bool(entries) and "?" not in entries and len(text) < _MOST_BYTES
        read = frozenset(path for name in paths["r"] for path in (name, _source_of(name)))
        # A file that the script wrote itself must not start the next run.
        return FileUse(read - paths["w"], paths["w"], is_known)

    def _take(self, start: _Start) -> Process | None:
        for each in list(self._waiting):
            if each[0] == start and each[1].returncode is None:
                self._waiting.remove(each)
                return each[1]
        return None


@asynccontextmanager
async def open_warm_processes(root: Path) -> AsyncIterator[WarmProcesses]:
    """Start scripts of a project in processes that wait, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="scoregate-watch-", ignore_cleanup_errors=True) as folder:
        processes = WarmProcesses(root, Path(folder))
        try:
            yield processes
        finally:
            with anyio.CancelScope(shield=True):
                await processes.close()


def _is_script(child: ChildProcess) -> bool:
    """Whether it is `python SCRIPT`: other commands may import scoregate in another way, or not at all."""
    program = Path(child.argv[0])
    is_python = program.is_absolute() and program.name.startswith("python")
    names_script = len(child.argv) == _FEWEST_ARGUMENTS and child.argv[1].endswith(".py")
    return is_python and names_script and child.identity is None


def _start_of(child: ChildProcess) -> _Start:
    # Variables of scoregate differ in each run, and reach the process with the request.
    variables = {name: value for name, value in child.environment.items() if not name.startswith("SCOREGATE_")}
    return _Start(child.argv[0], child.cwd, tuple(sorted(variables.items())))


async def _open_waiting(start: _Start) -> Process:
    return await anyio.open_process(
        (start.python, "-c", _START, _SOURCE.read_text(encoding="utf-8")),
        cwd=start.cwd,
        env=dict(start.environment),
        stdin=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # so that a signal to the group reaches all that the script starts
    )


async def _discard(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.aclose()


def _source_of(path: str) -> str:
    """The Python file that a file of `__pycache__` was compiled from; other paths stay as they are."""
    file = Path(path)
    return str(file.parent.parent / f"{file.name.split('.')[0]}.py") if file.parent.name == "__pycache__" else path
