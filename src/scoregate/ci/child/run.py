"""Run a process of the user's to its end, or to its limit, and hear what it prints."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, Process

from scoregate.ci.child.kill import end_daemons, signal_group, stop_tree
from scoregate.ci.child.output import lines
from scoregate.ci.child.watchdog import watched
from scoregate.ci.identity import Identity, rights
from scoregate.ci.secrets import Redactor

_LAST_WORDS_S = 1.0
Hear = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Child:
    """What is started, where, and as whom.

    `environment` is the whole of it, and `mark` a value in it that no other child has, by which its descendants are
    known. `timeout_s` is None where it may take for ever.
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    mark: str
    identity: Identity | None = None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class End:
    """How it ended; a negative exit code is a signal's number. `left` are its processes that could not be killed."""

    exit_code: int | None
    timed_out: bool
    left: tuple[int, ...] = ()


async def run_child(child: Child, hear: Hear, redact: Redactor) -> End:
    """Run it; whatever happens, cancelling too, nothing that it started is left afterwards.

    Args:
        hear: is given every line of its output, bounded in length. redact: takes known secrets out of it.

    Raises:
        OSError: it cannot be started.
    """
    with watched(child.mark) as watch:
        process = await anyio.open_process(
            child.argv,
            cwd=child.cwd,
            env=child.environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,  # one stream keeps the order: what is declared secret comes before it is used
            start_new_session=True,
            **rights(child.identity),
        )
        watch.add(process.pid)
        async with process:
            timed_out, left = await _watch(process, child, hear, redact)
    return End(process.returncode, timed_out, left)


async def _watch(process: Process, child: Child, hear: Hear, redact: Redactor) -> tuple[bool, tuple[int, ...]]:
    """Wait for its end; True if we had to bring it about, and what could not be killed."""
    left: tuple[int, ...] = ()
    try:
        async with anyio.create_task_group() as readers:
            assert process.stdout is not None
            readers.start_soon(_listen, process.stdout, hear, redact)
            with anyio.move_on_after(child.timeout_s) as limit:
                await process.wait()
            if limit.cancelled_caught:
                await stop_tree(process, child.mark, child.identity)
            # Whoever of its group outlives it would hold the pipes open.
            signal_group(process, signal.SIGKILL)
            if child.identity is not None:
                left = await end_daemons(process, child.mark, child.identity)
            readers.cancel_scope.deadline = anyio.current_time() + _LAST_WORDS_S
    except BaseException:
        await stop_tree(process, child.mark, child.identity)
        raise
    return limit.cancelled_caught, left


async def _listen(stream: ByteReceiveStream, hear: Hear, redact: Redactor) -> None:
    async for line in lines(stream, redact):
        hear(line)
