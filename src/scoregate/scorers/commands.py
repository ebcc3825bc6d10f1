"""Commands that check what an agent left in its workspace."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from secrets import token_hex
from tempfile import TemporaryFile
from time import monotonic
from typing import IO

from scoregate.agents.process import MARK_VARIABLE, kill_processes, move_environment

_SHOWN_BYTES = 2_000
_MOST_OUTPUT = 64 * 1024 * 1024
_WATCH_S = 0.2


def run_command(arguments: Sequence[str], folder: str, timeout: float) -> tuple[int | None, str]:
    """Run a command without input, within limits of time and output.

    Args:
        arguments: the program and its arguments.
        folder: where it runs.
        timeout: seconds until it and everything that it started are killed.

    Returns:
        The exit code, None if it was killed, and what happened with the end of its output.

    Raises:
        OSError: it can't be started.
    """
    # The command must not write to the log of the suite.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SCOREGATE_")}
    mark = token_hex(16)
    with TemporaryFile() as output:  # a pipe would stay open with each process that the command leaves behind
        process = subprocess.Popen(
            arguments,
            cwd=folder,
            env={**move_environment(environment, folder), MARK_VARIABLE: mark},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code, problem = _wait(process, output, timeout)
        finally:
            kill_processes(process.pid, mark)  # what it started may go on after it
            process.wait()
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - _SHOWN_BYTES))
        shown = output.read(_SHOWN_BYTES).decode("utf-8", "replace").strip()
    return code, f"{problem}: {shown}" if shown else problem


def _wait(process: subprocess.Popen[bytes], output: IO[bytes], timeout: float) -> tuple[int | None, str]:
    deadline = monotonic() + timeout
    while (left := deadline - monotonic()) > 0:
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(min(left, _WATCH_S))  # waits in short steps, to see the size of the output
            return code, f"it exited with {code}"
        if os.fstat(output.fileno()).st_size > _MOST_OUTPUT:
            return None, f"it printed more than {_MOST_OUTPUT >> 20} MB"
    return None, f"it took longer than {timeout:g} s"
