"""Run a plan and keep what happens: the launching of scripts, wired to a recording."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from scoregate import __version__
from scoregate.ci import git
from scoregate.ci.archive import RunWriter
from scoregate.ci.identity import Identity
from scoregate.ci.launch import Happening, Host, launch_all
from scoregate.ci.parts import RUN_FOLDER
from scoregate.ci.plan import Plan
from scoregate.ci.recording import Observer, Recording
from scoregate.ci.settings import Settings
from scoregate.core.record import Run


@dataclass(frozen=True, slots=True)
class Recorder:
    """Keeps runs in folders below `out`.

    `environ` is the host's, of which scripts get a part, `identity` who they run as; `observers` are shown everything
    that happens meanwhile.
    """

    out: Path
    environ: Mapping[str, str]
    redact: Callable[[bytes], bytes]
    identity: Identity | None = None
    observers: Sequence[Observer] = ()

    async def record(self, plan: Plan, settings: Settings, notices: Sequence[str], *, folder: str = RUN_FOLDER) -> Run:
        """Launch the plan; the run is on disk when this returns, or is cancelled."""
        host = Host(
            plan.root,
            self.environ,
            self.redact,
            identity=self.identity,
            timeout_s=settings.timeout,
            max_scripts=settings.max_suites,
        )
        about = await _about(plan.root, settings, notices)
        with RunWriter(self.out / folder) as writer:
            recording = Recording(writer, broken=plan.broken)

            def tell(happening: Happening) -> None:
                recording.take(happening)
                for observe in self.observers:
                    observe(happening, recording)

            interrupted = True
            try:
                await launch_all(plan.launches, host, tell)
                interrupted = False
            finally:
                run = recording.finish(replace(about, finished=time.time()), interrupted=interrupted)
        return run


async def _about(root: Path, settings: Settings, notices: Sequence[str]) -> Run:
    now = time.time()
    return Run(
        id=uuid.uuid4().hex,
        started=now,
        finished=now,
        version=__version__,
        message=settings.message,
        commit=await git.head_commit(root),
        branch=await git.branch(root),
        dirty=await git.is_dirty(root),
        filters=settings.suite,
        policy=asdict(settings.policy()),
        notices=tuple(notices),
    )
