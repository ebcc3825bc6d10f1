"""The scene of a run: the project, its settings, the job around it, and what follows from them for reports."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread

from scoregate.ci import git
from scoregate.ci.github.base import Base, base_of
from scoregate.ci.github.connection import Connection, connect, token_of
from scoregate.ci.github.event import default_branch
from scoregate.ci.github.guard import refuse_foreign_code
from scoregate.ci.github.subject import Subject, subject_of
from scoregate.ci.publish.outlet import Outlet, Render
from scoregate.ci.report.context import Context
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.ci.settings import BaselineKind, Settings, ShowOutputs

_WRITING_EVENTS = ("push", "schedule", "workflow_dispatch")
_LOOKED_UP = (BaselineKind.AUTO, BaselineKind.ARTIFACT, BaselineKind.BRANCH, BaselineKind.RERUN)


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a run takes place.

    Args:
        root: the project. folder: the project's folder within the repository; empty at its top.
        environ: the host's, without variables that hold our token.
        held: the folder of the run, where it is held open under another path.
        connection, subject: None outside of jobs. base: what the job's changes are tested on top of.
    """

    root: Path
    environ: Mapping[str, str]
    settings: Settings
    redact: Redactor
    folder: str = ""
    held: Path | None = None
    connection: Connection | None = None
    subject: Subject | None = None
    base: Base | None = None

    @property
    def out(self) -> Path:
        """The folder of the run and its reports."""
        return self.held or self.named_out

    @property
    def named_out(self) -> Path:
        """The same folder, as it is named to people and to other steps."""
        return self.root / self.settings.out


@asynccontextmanager
async def open_scene(
    root: Path, environ: Mapping[str, str], settings: Settings, *, stop: anyio.Event | None = None
) -> AsyncIterator[Scene]:
    """The scene, until the block ends; within a job it holds an open connection, hurried once `stop` is set.

    Raises:
        UsageError: a fork's code is checked out in a job that has this repository's rights.
    """
    token = token_of(settings, environ)
    redact = Redactor({*secret_values(environ), *filter(None, (token,))})
    spared = {name: value for name, value in environ.items() if not token or token not in value}
    folder = await anyio.to_thread.run_sync(_folder, root, await _top(root))
    scene = Scene(root, spared, settings, redact, folder)
    async with connect(settings, environ, stop) as connection:
        if connection is None:
            yield scene
            return
        for place in _places(root, settings):
            refuse_foreign_code(connection.github, await git.head_commit(place))
        base = None
        if settings.baseline_kind in _LOOKED_UP:
            base = await base_of(connection.github, root, connection.api, branch=settings.base_branch)
        yield replace(scene, connection=connection, subject=subject_of(connection.github), base=base)


def _places(root: Path, settings: Settings) -> Iterator[Path]:
    """The folders that hold what is run: the project, and what is named in it, which may be another repository."""
    named = (*settings.paths, *(command.cwd for command in settings.commands))
    for place in (root, *(root / name for name in named)):
        folder = place if place.is_dir() else place.parent
        if folder.is_dir():
            yield folder


async def _top(root: Path) -> Path:
    return await git.top_level(root) or root


def _folder(root: Path, top: Path) -> str:
    way = os.path.relpath(root.resolve(), top.resolve())
    return "" if way == os.curdir else Path(way).as_posix()


def context_of(scene: Scene) -> Context:
    """What reports say of the place."""
    show = scene.settings.show_outputs is ShowOutputs.FULL
    context = Context(generated_at=time.time(), folder=scene.folder, show_outputs=show, redact=scene.redact.text)
    if scene.connection is None or scene.subject is None:
        return replace(context, named=_named(scene))
    return replace(
        context,
        key=scene.connection.key,
        repository=scene.connection.github.repository_url,
        commit=scene.subject.commit,
        run=scene.subject.run,
        run_url=scene.subject.run_url,
        pull_request=scene.subject.request is not None,
        base_branch=scene.base.branch if scene.base else None,
    )


def _named(scene: Scene) -> str:
    """The folder as somebody here would name it, where commands would not find it by themselves."""
    if scene.settings.origin("out") != "--out":
        return ""
    way = os.path.relpath(scene.named_out)
    return str(scene.named_out.resolve()) if way.startswith(os.pardir) else way


def outlet_of(scene: Scene, files: Mapping[str, Render]) -> Outlet:
    """Where reports can go."""
    outlet = Outlet(
        scene.out,
        files,
        named=scene.named_out,
        comment=scene.settings.comment,
        annotations=scene.settings.annotations,
        redact=scene.redact.text,
        redact_chunks=scene.redact.stream,
        log=_log,
    )
    if scene.connection is None or scene.subject is None:
        return outlet
    return replace(
        outlet,
        connection=scene.connection,
        request=scene.subject.request,
        read_only=scene.subject.read_only,
        measured_here=scene.subject.measured_here,
        stored=_is_stored(scene.connection, scene.settings),
    )


def _is_stored(connection: Connection, settings: Settings) -> bool:
    """Whether the run becomes a base on the data branch: runs of the base branch do, where bases are kept there."""
    github = connection.github
    at_base = github.ref_name == (settings.base_branch or default_branch(github))
    return settings.baseline_kind is BaselineKind.BRANCH and at_base and github.event_name in _WRITING_EVENTS


def _log(line: str) -> None:
    print(line, flush=True)
