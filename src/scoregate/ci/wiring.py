"""The composition root: explicit tables, and the ports built from them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from scoregate import __version__
from scoregate.ci import git
from scoregate.ci.archive import RunWriter
from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.file import read_baseline
from scoregate.ci.baseline.imports import import_folders
from scoregate.ci.baseline.rerun import base_tree, rerooted
from scoregate.ci.discover.commands import find_commands
from scoregate.ci.discover.python_scripts import find_scripts
from scoregate.ci.interpreter import find_interpreter
from scoregate.ci.launch import Happening, Host, launch_all
from scoregate.ci.launch.environment import child_environment
from scoregate.ci.parts import Ports
from scoregate.ci.plan import Found, Plan
from scoregate.ci.publish.files import write_atomically
from scoregate.ci.recording import Observer, Recording
from scoregate.ci.report import json, junit, markdown
from scoregate.ci.report.context import Context
from scoregate.ci.report.make_view import make_view
from scoregate.ci.report.view import ReportView
from scoregate.ci.secrets import redactor, secret_values
from scoregate.ci.settings import Settings
from scoregate.core.compare import Comparison
from scoregate.core.gate import Verdict
from scoregate.core.record import Run

Render: TypeAlias = Callable[[ReportView], Iterable[str]]

BASELINES = (read_baseline,)
REPORTS: Mapping[str, tuple[str, Render]] = {
    "junit": ("junit.xml", junit.render),
    "markdown": ("comment.md", markdown.render),
    "json": ("result.json", json.render),
}
RUN_FOLDER = "run"


def build_ports(root: Path, environ: Mapping[str, str], settings: Settings, *, observers: Sequence[Observer]) -> Ports:
    """The ports for one run.

    Args:
        root: the repository. environ: the host's environment. settings: the project's.
        observers: are shown everything that happens while scripts run.
    """
    interpreter = find_interpreter(root, environ, named=settings.python, origin=settings.origin("python"))
    redact = redactor(secret_values(environ))
    out = root / settings.out
    environment = child_environment(environ, {}, events=out, root=root)
    record = partial(_record, environ=environ, redact=redact, observers=observers)
    return Ports(
        root=root,
        interpreter=interpreter,
        discover=partial(_discover, root),
        baselines=[partial(source, root) for source in BASELINES],
        record=partial(record, folder=out / RUN_FOLDER),
        rerun=partial(
            _rerun,
            partial(record, folder=out / "base"),
            imports=partial(import_folders, interpreter, root, environ=environment),
        ),
        publish=partial(_publish, out=out, context=Context(generated_at=time.time())),
    )


async def _discover(root: Path, settings: Settings) -> Found:
    return await find_scripts(root, settings) + find_commands(root, settings)


async def _record(
    plan: Plan,
    settings: Settings,
    notices: Sequence[str],
    *,
    folder: Path,
    environ: Mapping[str, str],
    redact: Callable[[bytes], bytes],
    observers: Sequence[Observer],
) -> Run:
    host = Host(plan.root, environ, redact, timeout_s=settings.timeout, max_scripts=settings.max_suites)
    about = await _about(plan.root, settings, notices)
    with RunWriter(folder) as writer:
        recording = Recording(writer, broken=plan.broken)

        def tell(happening: Happening) -> None:
            recording.take(happening)
            for observe in observers:
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


async def _rerun(
    record: Callable[[Plan, Settings, Sequence[str]], Awaitable[Run]],
    plan: Plan,
    settings: Settings,
    *,
    imports: Callable[[], Awaitable[Sequence[Path]]],
) -> Baseline:
    async with base_tree(plan.root, settings) as tree:
        base = rerooted(plan, tree.path, imports=await imports())
        return Baseline(await record(base, settings, base.notices), tree.note)


async def _publish(comparison: Comparison, verdict: Verdict, *, out: Path, context: Context) -> None:
    view = make_view(comparison, verdict, context)
    for name, render in REPORTS.values():
        write_atomically(out / name, render(view))
