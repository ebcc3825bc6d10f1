"""Run a plan and keep what happens: the launching of scripts, wired to a recording."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from scoregate import __version__
from scoregate.ci import git
from scoregate.ci.archive import RUN_FOLDER, RunWriter
from scoregate.ci.conditions import conditions_of
from scoregate.ci.identity import Identity
from scoregate.ci.importers import Reader
from scoregate.ci.launch import Ended, Failed, Happening, Host, Noticed, Tell, launch_all
from scoregate.ci.lines import open_lines
from scoregate.ci.plan import Plan
from scoregate.ci.recording import FLUSH_EVERY_S, Observer, Recording
from scoregate.ci.secrets import Redactor
from scoregate.ci.settings import Settings, ShowOutputs
from scoregate.ci.unless import unless
from scoregate.core.events import ErrorInfo
from scoregate.core.record import Run


@dataclass(frozen=True, slots=True)
class Recorder:
    """Keeps runs in folders below `out`.

    Args:
        environ: the host's, of which scripts get a part. redact: takes secrets out of what is kept.
        new_identity: says who the next script runs as; None for ourselves.
        observers: are shown everything that happens meanwhile.
        stop: once it is set, scripts are ended and what they have reported is the run.
        keep: how many runs stay that newer ones took the place of.
        branch, attempt: where a job tells them; else git's branch, and the first.
    """

    out: Path
    environ: Mapping[str, str]
    redact: Redactor
    new_identity: Callable[[], Identity | None]
    observers: Sequence[Observer]
    stop: anyio.Event
    branch: str | None = None
    attempt: int = 1
    keep: int = 0

    async def record(self, plan: Plan, settings: Settings, notices: Sequence[str], *, folder: str = RUN_FOLDER) -> Run:
        """Launch the plan; the run is on disk when this returns, or is cancelled."""
        about = await self._about(plan, settings, notices)
        with RunWriter(self.out / folder, keep=self.keep if folder == RUN_FOLDER else 0) as writer:
            show = settings.show_outputs is ShowOutputs.FULL
            recording = Recording(
                writer, broken=plan.broken, launches=len(plan.launches), show_outputs=show, about=about
            )

            def tell(happening: Happening) -> None:
                happening = _without_secrets(happening, self.redact)
                recording.take(happening)
                for observe in self.observers:
                    observe(happening, recording)

            done = False
            try:
                async with _flushing(recording):
                    done = await unless(self.stop, self._launched(plan, settings, tell), stopped=False)
            finally:
                run = recording.finish(replace(about, finished=time.time()), interrupted=not done)
        return run

    async def _launched(self, plan: Plan, settings: Settings, tell: Tell) -> bool:
        """True once every launch has ended."""
        async with open_lines(plan, self.environ, self.redact, suites=settings.suite) as open_line:
            host = Host(
                plan.root,
                self.environ,
                self.redact,
                Reader(self.redact),
                new_identity=self.new_identity,
                timeout_s=settings.timeout,
                max_scripts=settings.max_suites,
                open_line=open_line,
                suites=settings.suite,
            )
            await launch_all(plan.launches, host, tell)
        return True

    async def _about(self, plan: Plan, settings: Settings, notices: Sequence[str]) -> Run:
        now, root = time.time(), plan.root
        return Run(
            id=uuid.uuid4().hex,
            started=now,
            finished=now,
            version=__version__,
            message=None if settings.message is None else self.redact.text(settings.message),
            commit=await git.head_commit(root),
            branch=self.branch or await git.branch(root),
            dirty=await git.is_dirty(root),
            attempt=self.attempt,
            filters=settings.filters,
            file_filters=settings.file_filters,
            skipped=plan.skipped,
            left_out=plan.left_out,
            narrowed=plan.narrowed,
            policy=asdict((settings.proposed or settings).policy()),
            settings=_redacted(settings.file_values, self.redact),
            conditions=await conditions_of(root, settings),
            notices=tuple(map(self.redact.text, notices)),
        )


@asynccontextmanager
async def _flushing(recording: Recording) -> AsyncIterator[None]:
    """Flush what has finished also while nothing happens."""

    async def flush() -> None:
        while True:
            recording.flush_if_due()
            await anyio.sleep(FLUSH_EVERY_S)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(flush)
        yield
        tasks.cancel_scope.cancel()


def _without_secrets(happening: Happening, redact: Redactor) -> Happening:
    """What a happening says in our own words: it may name files and commands. Events and output are clean already."""
    if isinstance(happening, Noticed):
        return replace(happening, notice=redact.text(happening.notice))
    if isinstance(happening, Failed):
        return replace(happening, error=_error_without_secrets(happening.error, redact))
    if isinstance(happening, Ended) and happening.script.error is not None:
        error = _error_without_secrets(happening.script.error, redact)
        return replace(happening, script=replace(happening.script, error=error))
    return happening


def _error_without_secrets(error: ErrorInfo, redact: Redactor) -> ErrorInfo:
    traceback = error.traceback and redact.text(error.traceback)
    return replace(error, message=redact.text(error.message), traceback=traceback)


def _redacted(values: Mapping[str, Any], redact: Redactor) -> Mapping[str, Any] | None:
    """The values without secrets; None where that leaves no JSON."""
    try:
        found = json.loads(redact.text(json.dumps(values, default=str)))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
