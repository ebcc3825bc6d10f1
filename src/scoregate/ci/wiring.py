"""The composition root: explicit tables, and the ports built from them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

from scoregate.ci.archive import amend_run
from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.imports import import_folders
from scoregate.ci.baseline.rerun import base_tree, rerooted
from scoregate.ci.discover.commands import find_commands
from scoregate.ci.discover.python_scripts import find_scripts
from scoregate.ci.github.base import Base
from scoregate.ci.interpreter import find_interpreter
from scoregate.ci.launch.environment import child_environment
from scoregate.ci.needs import with_needs
from scoregate.ci.parts import BASE_FOLDER, RUN_FOLDER, Ports
from scoregate.ci.plan import Found, Plan
from scoregate.ci.recorder import Recorder
from scoregate.ci.recording import Observer
from scoregate.ci.reporting import reporting
from scoregate.ci.scene import Scene, open_scene
from scoregate.ci.settings import Settings
from scoregate.errors import GitError


@asynccontextmanager
async def open_ports(
    root: Path, environ: Mapping[str, str], settings: Settings, *, observers: Sequence[Observer], stop: anyio.Event
) -> AsyncIterator[Ports]:
    """The ports for one run, until the block ends.

    Args:
        root: the project. environ: the host's environment. settings: the project's.
        observers: are shown everything that happens while scripts run. stop: ends what runs, once it is set.
    """
    async with open_scene(root, environ, settings, stop=stop) as scene:
        yield _ports(scene, observers, stop)


def _ports(scene: Scene, observers: Sequence[Observer], stop: anyio.Event) -> Ports:
    root, environ, settings = scene.root, scene.environ, scene.settings
    interpreter = find_interpreter(root, environ, named=settings.python, origin=settings.origin("python"))
    environment = child_environment(environ, {}, events=scene.out, root=root, tokens=scene.tokens)
    recorder = _recorder(scene, observers, stop)
    return Ports(
        root=root,
        interpreter=interpreter,
        discover=partial(discover, root, environ=environ, spared=scene.subject is not None and scene.subject.read_only),
        record=recorder.record,
        rerun=partial(_rerun, recorder, partial(import_folders, interpreter, root, environ=environment), scene.base),
        amend=partial(amend_run, scene.out / RUN_FOLDER),
        reporting=reporting(scene),
        stop=stop,
    )


def _recorder(scene: Scene, observers: Sequence[Observer], stop: anyio.Event) -> Recorder:
    recorder = Recorder(scene.out, scene.environ, scene.redact, observers, stop, tokens=scene.tokens)
    if scene.connection is None or scene.subject is None:
        return recorder
    return replace(recorder, branch=scene.subject.branch, attempt=scene.connection.github.run_attempt)


async def discover(root: Path, settings: Settings, *, environ: Mapping[str, str], spared: bool = False) -> Found:
    """Everything that holds suites.

    Args:
        environ: the environment, which has what some need. spared: suites that lack something are left out.
    """
    found = await find_scripts(root, settings) + find_commands(root, settings)
    return with_needs(found, settings, environ, spared=spared)


async def _rerun(
    recorder: Recorder,
    imports: Callable[[], Awaitable[Sequence[Path]]],
    job_base: Base | None,
    plan: Plan,
    settings: Settings,
    *,
    folder: str = BASE_FOLDER,
) -> Baseline:
    try:
        async with base_tree(plan.root, settings, job_base) as tree:
            base = rerooted(plan, tree.path, imports=await imports())
            return Baseline(await recorder.record(base, settings, base.notices, folder=folder), tree.note)
    except GitError as error:
        if job_base is None or settings.rerun_ref is not None:
            raise
        return Baseline(None, str(error))
