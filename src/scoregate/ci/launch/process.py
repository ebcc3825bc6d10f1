"""Run one script and tell what happens."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

import anyio
from anyio.abc import ByteReceiveStream, Process

from scoregate.ci.launch.environment import child_environment
from scoregate.ci.launch.follow import Follower
from scoregate.ci.launch.happenings import Began, Ended, Happening, Printed
from scoregate.ci.launch.host import Host
from scoregate.ci.launch.kill import signal_group, stop_tree
from scoregate.ci.launch.output import Tail, lines
from scoregate.ci.plan import Launch
from scoregate.core.events import ErrorInfo
from scoregate.core.record import Script

_POLL_S = 0.05
_LAST_WORDS_S = 1.0
Tell = Callable[[Happening], None]


@dataclass(slots=True)
class _Child:
    launch: Launch
    host: Host
    tell: Tell
    events: Path
    tail: Tail = field(default_factory=Tail)

    @property
    def environment(self) -> dict[str, str]:
        host = self.host
        return child_environment(
            host.environ, self.launch.environment, events=self.events, root=host.root, tokens=host.tokens
        )


async def run_script(launch: Launch, host: Host, tell: Tell) -> None:
    """From start to end, its event logs read to their last line whatever becomes of it."""
    with tempfile.TemporaryDirectory(prefix="scoregate-events-") as folder:
        child = _Child(launch, host, tell, Path(folder))
        follower = Follower(launch.name, child.events, host.redact)
        tell(Began(launch.name))
        started = perf_counter()
        try:
            async with anyio.create_task_group() as following:
                following.start_soon(_follow, follower, tell)
                script = await _run(child)
                following.cancel_scope.cancel()
        finally:
            for happening in (*follower.read(), *follower.close()):
                tell(happening)
        tell(Ended(replace(script, duration_s=round(perf_counter() - started, 3))))


async def _follow(follower: Follower, tell: Tell) -> None:
    while True:
        for happening in follower.read():
            tell(happening)
        await anyio.sleep(_POLL_S)


async def _run(child: _Child) -> Script:
    launch = child.launch
    try:
        process = await anyio.open_process(
            launch.argv, cwd=launch.cwd, env=child.environment, stdin=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        advice = "Check that the program is installed, or name another one in the settings."
        told = ErrorInfo(type(error).__name__, f"cannot start {launch.argv[0]!r}: {error.strerror}", advice=advice)
        return Script(launch.name, _command(launch), error=told)
    async with process:
        timed_out = await _watch(process, child)
    error_info = _error(process.returncode, child.tail, timeout_s=child.host.timeout_s if timed_out else None)
    return Script(launch.name, _command(launch), process.returncode, timed_out, error=error_info)


def _command(launch: Launch) -> tuple[str, ...]:
    """As the record has it: the program by its name, since its path says more of this machine than of the run."""
    return (Path(launch.argv[0]).name, *launch.argv[1:])


async def _watch(process: Process, child: _Child) -> bool:
    """Wait for its end; True if we had to bring it about."""
    try:
        async with anyio.create_task_group() as readers:
            for stream in (process.stdout, process.stderr):
                assert stream is not None
                readers.start_soon(_print, stream, child)
            with anyio.move_on_after(child.host.timeout_s) as limit:
                await process.wait()
            if limit.cancelled_caught:
                await stop_tree(process, child.events)
            # Whoever of its group outlives it would hold the pipes open.
            signal_group(process, signal.SIGKILL)
            readers.cancel_scope.deadline = anyio.current_time() + _LAST_WORDS_S
    except BaseException:
        await stop_tree(process, child.events)
        raise
    return limit.cancelled_caught


async def _print(stream: ByteReceiveStream, child: _Child) -> None:
    async for line in lines(stream):
        child.host.redact.listen(line)
        clean = child.host.redact.text(line)
        child.tail.add(clean)
        child.tell(Printed(child.launch.name, clean))


def _error(exit_code: int | None, tail: Tail, *, timeout_s: float | None) -> ErrorInfo | None:
    if timeout_s is not None:
        return ErrorInfo("TimedOut", f"stopped at the limit of {timeout_s:g} s", str(tail), "Raise `timeout`.")
    if not exit_code:
        return None
    what = f"killed by {signal.Signals(-exit_code).name}" if exit_code < 0 else f"exit code {exit_code}"
    missing = "No module named 'scoregate" in tail.last
    advice = "Install scoregate in the environment that runs the suites, or set `python`." if missing else ""
    return ErrorInfo("Exited", f"{what}: {tail.last}" if tail.last else what, str(tail), advice)
