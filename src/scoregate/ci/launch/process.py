"""Run one script and tell what happens."""

from __future__ import annotations

import re
import signal
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import anyio
import anyio.to_thread

from scoregate.ci.child import Child, Tail, run_child
from scoregate.ci.identity import Identity, at_home, workspace
from scoregate.ci.isolation import release, remove_tree
from scoregate.ci.launch.environment import child_environment
from scoregate.ci.launch.follow import Follower
from scoregate.ci.launch.happenings import Began, Ended, Noticed, Printed, Tell
from scoregate.ci.launch.host import Equip, Host
from scoregate.ci.launch.results import Results
from scoregate.ci.plan import Launch
from scoregate.core.events import ErrorInfo
from scoregate.core.record import Script

_POLL_S = 0.05
_PACKAGES = {"scoregate": "scoregate", "autoblocks": "autoblocksai", "pytest": "pytest"}
# As an import says it, and as `python -m` does.
_MISSING = re.compile(rf"No module named '?({'|'.join(_PACKAGES)})\b")


async def run_script(launch: Launch, host: Host, tell: Tell) -> None:
    """From start to end, its event logs read to their last line whatever becomes of it."""
    async with _temporary_folder() as folder:
        identity = host.new_identity()
        events = _events_folder(folder, identity)
        environ = at_home(identity, host.environ, folder) if identity and identity.shared else host.environ
        follower = Follower(launch.name, events, host.redact)
        tell(Began(launch.name))
        results = await anyio.to_thread.run_sync(Results.of, launch)
        started = perf_counter()
        try:
            async with anyio.create_task_group() as following:
                following.start_soon(_follow, follower, tell)
                async with _line(launch, host, tell) as equip:
                    given = child_environment(environ, launch.environment, events=events, root=host.root)
                    child = Child(launch.argv, launch.cwd, equip(given), str(events), identity, host.timeout_s)
                    script = await _run(launch, child, host, tell=tell)
                following.cancel_scope.cancel()
        finally:
            for happening in (*follower.read(), *follower.read(), *follower.close()):
                tell(happening)
        script = await _imported(script, results, host, identity, tell=tell)
        duration_s = round(perf_counter() - started, 3)
        tell(Ended(replace(script, duration_s=duration_s, expected=launch.source.expected)))


@asynccontextmanager
async def _temporary_folder() -> AsyncIterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="scoregate-events-"))
    try:
        yield folder
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove_tree, folder)


def _events_folder(above: Path, identity: Identity | None) -> Path:
    """In a folder that stays ours, so that nobody can put another one in its place while we read it."""
    events = above / "events"
    events.mkdir(mode=0o700)
    if identity is not None:
        above.chmod(0o711)
        identity.give(events)
    return events


async def _follow(follower: Follower, tell: Tell) -> None:
    while True:
        for happening in follower.read():
            tell(happening)
        await anyio.sleep(_POLL_S)


@asynccontextmanager
async def _line(launch: Launch, host: Host, tell: Tell) -> AsyncIterator[Equip]:
    """The other channel beside the event logs, where the launch may need it."""
    if host.open_line is None or not launch.source.foreign:
        yield dict
        return
    async with host.open_line(launch, tell) as equip:
        yield equip


async def _run(launch: Launch, child: Child, host: Host, *, tell: Tell) -> Script:
    tail = Tail()

    def hear(line: str) -> None:
        tail.add(line)
        tell(Printed(launch.name, line))

    try:
        end = await run_child(child, hear, host.redact)
    except OSError as error:
        advice = "Check how it is spelt, and that the program is installed."
        told = ErrorInfo(type(error).__name__, f"cannot start {launch.argv[0]!r}: {error.strerror}", advice=advice)
        return Script(launch.name, _command(launch, host), error=told)
    finally:
        await _release(child.identity, {host.root, workspace(host.environ)})
    error_info = _error(end.exit_code, tail, timeout_s=host.timeout_s if end.timed_out else None)
    if end.left:
        error_info = ErrorInfo("ProcessesLeft", f"{len(end.left)} of its processes cannot be killed", str(tail))
    return Script(launch.name, _command(launch, host), end.exit_code, end.timed_out, error=error_info)


async def _release(identity: Identity | None, folders: Iterable[Path]) -> None:
    """Let later suites do with its files what they may do with the owner's."""
    if identity is None or identity.shared is None or not identity.owns:
        return
    owner = identity.shared.stat()
    with anyio.CancelScope(shield=True):
        for folder in folders:
            await anyio.to_thread.run_sync(release, folder, identity.uid, owner)


async def _imported(script: Script, results: Results, host: Host, identity: Identity | None, *, tell: Tell) -> Script:
    """The script, once the result files that it left behind are told; one that never ran to its end left none."""
    if not results.launch.source.imports or script.exit_code is None or script.timed_out:
        return script
    failures = await results.tell(tell, host.read_results, identity, suites=host.suites)
    if failures and script.error is None:
        told = "; ".join(failure.message for failure in failures)
        return replace(script, error=ErrorInfo("ImportFailed", told, advice=failures[0].advice))
    for failure in failures:
        tell(Noticed(script.name, failure.message))
    return script


def _command(launch: Launch, host: Host) -> tuple[str, ...]:
    """As the record has it: the program by its name, since its path says more of this machine than of the run."""
    return (Path(launch.argv[0]).name, *map(host.redact.text, launch.argv[1:]))


def _error(exit_code: int | None, tail: Tail, *, timeout_s: float | None) -> ErrorInfo | None:
    if timeout_s is not None:
        return ErrorInfo("TimedOut", f"stopped at the limit of {timeout_s:g} s", str(tail), "Raise `timeout`.")
    if not exit_code:
        return None
    what = f"killed by {signal.Signals(-exit_code).name}" if exit_code < 0 else f"exit code {exit_code}"
    return ErrorInfo("Exited", f"{what}: {tail.last}" if tail.last else what, str(tail), _advice(tail.last))


def _advice(last: str) -> str:
    if (missing := _MISSING.search(last)) is None:
        return ""
    return f"Install {_PACKAGES[missing[1]]} in the environment that runs the suites, or set `python`."
