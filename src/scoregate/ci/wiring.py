"""The composition root: explicit tables, and the ports built from them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from scoregate.ci.archive import amend_run
from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.file import read_baseline
from scoregate.ci.baseline.imports import import_folders
from scoregate.ci.baseline.rerun import base_tree, findable, rerooted
from scoregate.ci.discover.commands import find_commands
from scoregate.ci.discover.python_scripts import find_scripts
from scoregate.ci.interpreter import find_interpreter
from scoregate.ci.launch.environment import child_environment
from scoregate.ci.parts import BASE_FOLDER, RUN_FOLDER, Ports
from scoregate.ci.plan import Found, Plan
from scoregate.ci.publish.files import write_atomically
from scoregate.ci.recorder import Recorder
from scoregate.ci.recording import Observer
from scoregate.ci.report import json, junit, markdown
from scoregate.ci.report.context import Context
from scoregate.ci.report.make_view import make_view
from scoregate.ci.report.view import ReportView
from scoregate.ci.secrets import redactor, secret_values
from scoregate.ci.settings import Settings
from scoregate.core.compare import Comparison
from scoregate.core.gate import Verdict

Render: TypeAlias = Callable[[ReportView], Iterable[str]]

BASELINES = (read_baseline, findable)
REPORTS: Mapping[str, tuple[str, Render]] = {
    "junit": ("junit.xml", junit.render),
    "markdown": ("comment.md", markdown.render),
    "json": ("result.json", json.render),
}


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
    recorder = Recorder(out, environ, redact, observers)
    return Ports(
        root=root,
        interpreter=interpreter,
        discover=partial(_discover, root),
        baselines=[partial(source, root) for source in BASELINES],
        record=recorder.record,
        rerun=partial(_rerun, recorder, partial(import_folders, interpreter, root, environ=environment)),
        amend=partial(amend_run, out / RUN_FOLDER),
        publish=partial(_publish, out=out, context=Context(generated_at=time.time())),
    )


async def _discover(root: Path, settings: Settings) -> Found:
    return await find_scripts(root, settings) + find_commands(root, settings)


async def _rerun(
    recorder: Recorder,
    imports: Callable[[], Awaitable[Sequence[Path]]],
    plan: Plan,
    settings: Settings,
    *,
    folder: str = BASE_FOLDER,
) -> Baseline:
    async with base_tree(plan.root, settings) as tree:
        base = rerooted(plan, tree.path, imports=await imports())
        return Baseline(await recorder.record(base, settings, base.notices, folder=folder), tree.note)


async def _publish(comparison: Comparison, verdict: Verdict, *, out: Path, context: Context) -> None:
    view = make_view(comparison, verdict, context)
    for name, render in REPORTS.values():
        write_atomically(out / name, render(view))
