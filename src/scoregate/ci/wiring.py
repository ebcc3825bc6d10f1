"""The composition root: explicit tables, and the ports built from them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypedDict

import anyio
import anyio.to_thread

from scoregate.ci.archive import BASE_FOLDER, RUN_FOLDER, amend_run, read_run
from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.imports import import_folders
from scoregate.ci.baseline.rerun import base_tree, lend_packages, rerooted
from scoregate.ci.champions import with_champions
from scoregate.ci.discover.test_sets import found_again
from scoregate.ci.discovery import Find, discover, find_all
from scoregate.ci.github.base import Base
from scoregate.ci.identity import Identity, at_home, in_ci, in_container, new_identity
from scoregate.ci.install import Site, prepare
from scoregate.ci.interpreter import Interpreter
from scoregate.ci.launch.environment import child_environment
from scoregate.ci.parts import Ports
from scoregate.ci.plan import Plan
from scoregate.ci.policies import with_policy_of
from scoregate.ci.protection import Protection, protected
from scoregate.ci.publish.outputs import write_first_outputs
from scoregate.ci.recorder import Recorder
from scoregate.ci.recording import Observer
from scoregate.ci.reporting import reporting
from scoregate.ci.resume import resume
from scoregate.ci.scene import Scene, open_scene, outlet_of
from scoregate.ci.secrets import Redactor
from scoregate.ci.settings import Settings
from scoregate.core.record import Run
from scoregate.core.rules.of_run import script_failures
from scoregate.errors import GitError, RecordError

Say: TypeAlias = Callable[[str], None]
_MOST_FAILURES = 3


class Told(TypedDict, total=False):
    """What a job tells of its run."""

    branch: str
    attempt: int


@asynccontextmanager
async def open_ports(
    root: Path,
    environ: Mapping[str, str],
    settings: Settings,
    *,
    scratch: Path,
    observers: Sequence[Observer],
    say: Say,
    stop: anyio.Event,
    find: Find = find_all,
    resumed: Path | None = None,
) -> AsyncIterator[Ports]:
    """The ports for one run, until the block ends.

    Args:
        root: the project. environ: the host's environment. settings: the project's.
        scratch: an empty folder outside the project, for what is of no use afterwards.
        observers: are shown everything that happens while scripts run.
        say: is told what happens while the suites' environment is made. stop: ends what runs, once it is set.
        find: looks for what holds suites. resumed: the folder of the run to go on from, if that did not
            finish.
    """
    async with open_scene(root, environ, settings, stop=stop) as scene:
        write_first_outputs(outlet_of(scene, {}))
        with protected(scene) as protection:
            yield _ports(protection, scratch, observers=observers, say=say, stop=stop, find=find, resumed=resumed)


def _ports(
    protection: Protection,
    scratch: Path,
    *,
    observers: Sequence[Observer],
    say: Say,
    stop: anyio.Event,
    find: Find,
    resumed: Path | None,
) -> Ports:
    scene = protection.scene
    root, identity = scene.root, new_identity(scene.environ)
    home = at_home(identity, scene.environ, scratch, readable=True)
    theirs = {**home, **_purse(scene.settings, scratch, identity)}
    site = site_of(root, scene.environ, scratch, identity, redact=scene.redact, say=say, theirs=theirs)
    new = partial(new_identity, scene.environ)
    keep = 0 if in_ci(scene.environ) else scene.settings.keep_runs
    recorder = Recorder(scene.out, theirs, scene.redact, new, observers, stop, keep=keep, **_told(scene))
    environment = child_environment(theirs, {}, events=scene.out, root=root)
    imports = partial(import_folders, root=root, environ=environment, identity=identity)
    spared = scene.subject is not None and scene.subject.read_only
    return Ports(
        root=root,
        discover=partial(discover, root, environ=scene.environ, spared=spared, find=find),
        prepare=partial(prepare, site),
        arm=partial(with_champions, scratch, identity, keeps=scene.connection is None),
        resume=partial(resume, scene, scratch / "reuse", identity, last=resumed),
        record=recorder.record,
        rerun=partial(_rerun, recorder, imports, scene.base),
        earlier=partial(_earlier, scene),
        amend=partial(amend_run, scene.out / RUN_FOLDER),
        settle=protection.settle,
        reporting=reporting(scene),
        stop=stop,
    )


async def _earlier(scene: Scene) -> Run | None:
    """The run in the folder that the next one is written to; of a job's folder nobody knows how it came there."""
    if scene.connection is not None:
        return None
    try:
        return await anyio.to_thread.run_sync(read_run, scene.out / RUN_FOLDER)
    except RecordError:
        return None


def _purse(settings: Settings, scratch: Path, identity: Identity | None) -> dict[str, str]:
    """Where the processes of a run keep what they have spent of its budget; nowhere where there is none."""
    if settings.max_cost is None and settings.max_tokens is None:
        return {}
    spent = scratch / "spent"
    spent.touch(mode=0o600)
    if identity is not None:
        identity.share(spent)
    return {"SCOREGATE_SPENT": str(spent)}


def _told(scene: Scene) -> Told:
    if scene.connection is None or scene.subject is None:
        return Told()
    return Told(branch=scene.subject.branch, attempt=scene.connection.github.run_attempt)


def site_of(
    root: Path,
    environ: Mapping[str, str],
    scratch: Path,
    identity: Identity | None = None,
    *,
    redact: Redactor,
    say: Say,
    theirs: Mapping[str, str] | None = None,
) -> Site:
    """Where an environment for the suites is made, and by whom.

    Args:
        identity: who makes it; None for ourselves. theirs: their environment; the host's own where not given.
    """
    ours = in_container(environ)
    automatic = ours or environ.get("SCOREGATE_ACTION") == "1"
    return Site(root, scratch, theirs or environ, redact, say, identity, automatic=automatic, own=ours)


async def _rerun(
    recorder: Recorder,
    imports: Callable[[Interpreter], Awaitable[Sequence[Path]]],
    job_base: Base | None,
    plan: Plan,
    settings: Settings,
    *,
    folder: str = BASE_FOLDER,
) -> Baseline:
    try:
        async with base_tree(plan.root, settings, job_base) as tree:
            base = rerooted(plan, tree.path, imports=await imports(plan.interpreter))
            lend_packages(base, plan)
            run = await recorder.record(base, settings, base.notices, folder=folder)
            sources = found_again(tree.path, (launch.source for launch in base.launches))
            run = with_policy_of(run, tree.path, settings, recorder.environ, sources=sources)
    except GitError as error:
        if job_base is None or settings.rerun_ref is not None:
            raise
        return Baseline(None, str(error), unreadable=True)
    amend_run(recorder.out / folder, run)
    return _of_rerun(run, tree.note)


def _of_rerun(run: Run, note: str) -> Baseline:
    """The base that was run; where a part of it failed, the scores of that part are missing from it."""
    failures = script_failures(run)
    told = "; ".join((note, *(f"in the base, {why}" for why in list(failures.values())[:_MOST_FAILURES])))
    return Baseline(run, told, unreadable=bool(failures) or not run.complete)
