"""The composition root: explicit tables, and the ports built from them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from scoregate.ci import git
from scoregate.ci.archive import amend_run
from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.file import read_baseline
from scoregate.ci.baseline.imports import import_folders
from scoregate.ci.baseline.rerun import base_tree, rerooted
from scoregate.ci.discover.commands import find_commands
from scoregate.ci.discover.python_scripts import find_scripts
from scoregate.ci.identity import at_home, find_identity, in_container
from scoregate.ci.install import Site, prepare
from scoregate.ci.interpreter import Interpreter
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
Say: TypeAlias = Callable[[str], None]

BASELINES = (read_baseline,)
REPORTS: Mapping[str, tuple[str, Render]] = {
    "junit": ("junit.xml", junit.render),
    "markdown": ("comment.md", markdown.render),
    "json": ("result.json", json.render),
}


def build_ports(
    root: Path,
    environ: Mapping[str, str],
    settings: Settings,
    *,
    scratch: Path,
    observers: Sequence[Observer] = (),
    say: Say | None = None,
) -> Ports:
    """The ports for one run.

    Args:
        root: the repository. environ: the host's environment. settings: the project's.
        scratch: an empty folder outside the repository, for what is of no use afterwards.
        observers: are shown everything that happens while scripts run.
        say: is told what happens while the suites' environment is made; without it, none is made.
    """
    identity = find_identity(environ)
    redact = redactor(secret_values(environ))
    out = root / settings.out
    theirs = at_home(identity, environ, scratch)
    environment = child_environment(theirs, {}, events=out, root=root)
    imports = partial(import_folders, root=root, environ=environment, identity=identity)
    ours = in_container(environ)
    automatic = ours or environ.get("SCOREGATE_ACTION") == "1"
    site = Site(root, scratch, theirs, redact, say or _unheard, identity, automatic=automatic, own=ours)
    recorder = Recorder(out, theirs, redact, identity, observers)
    return Ports(
        root=root,
        discover=partial(_discover, root, environ),
        prepare=partial(prepare, site, dry=say is None),
        baselines=[partial(source, root) for source in BASELINES],
        record=recorder.record,
        rerun=partial(_rerun, recorder, imports),
        amend=partial(amend_run, out / RUN_FOLDER),
        publish=partial(_publish, out=out, context=Context(generated_at=time.time())),
    )


def _unheard(_line: str) -> None:
    return None


async def _discover(root: Path, environ: Mapping[str, str], settings: Settings) -> Found:
    notices = Found(notices=tuple([notice async for notice in _notices(root, environ)]))
    return await find_scripts(root, settings) + find_commands(root, settings) + notices


async def _notices(root: Path, environ: Mapping[str, str]) -> AsyncIterator[str]:
    """What is to be told of the place that suites run in."""
    identity = find_identity(environ)
    if identity is not None and not identity.owns:
        yield "the workspace belongs to root, so suites run as nobody and cannot write into it"
    if environ.get("GITHUB_ACTIONS") == "true" and await git.keeps_token(root):
        yield "actions/checkout left the job's token where suites can read it: give it `persist-credentials: false`"


async def _rerun(
    recorder: Recorder,
    imports: Callable[[Interpreter], Awaitable[Sequence[Path]]],
    plan: Plan,
    settings: Settings,
    *,
    folder: str = BASE_FOLDER,
) -> Baseline:
    async with base_tree(plan.root, settings) as tree:
        base = rerooted(plan, tree.path, imports=await imports(plan.interpreter))
        return Baseline(await recorder.record(base, settings, base.notices, folder=folder), tree.note)


async def _publish(comparison: Comparison, verdict: Verdict, *, out: Path, context: Context) -> None:
    view = make_view(comparison, verdict, context)
    for name, render in REPORTS.values():
        write_atomically(out / name, render(view))
