"""Everything of a project that holds suites, from the table of sources."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from scoregate.ci import git
from scoregate.ci.discover.commands import find_commands
from scoregate.ci.discover.offline_configs import find_configs
from scoregate.ci.discover.python_scripts import find_scripts
from scoregate.ci.discover.selected import selected
from scoregate.ci.discover.test_sets import find_test_sets
from scoregate.ci.identity import find_identity
from scoregate.ci.needs import with_needs
from scoregate.ci.plan import Found, Kind, Source
from scoregate.ci.policies import with_gates
from scoregate.ci.protection import missing_isolation
from scoregate.ci.secrets import short_secrets
from scoregate.ci.settings import Settings
from scoregate.errors import UsageError

Find: TypeAlias = Callable[[Path, Settings], Awaitable[Found]]
SOURCES: tuple[Find, ...] = (find_scripts, find_commands, find_configs, find_test_sets)
_MOST_NAMES = 5


async def find_all(root: Path, settings: Settings) -> Found:
    """Whatever of a project is asked for, from every source."""
    found = Found()
    for find in SOURCES:
        found += await find(root, settings)
    return selected(found, settings.suite)


async def gated(root: Path, settings: Settings) -> Settings:
    """The settings with what the files of suites set for these, for a run that is judged where nothing is run.

    Where the project itself is not there, as in a job that only has its runs, the settings stand alone.
    """
    try:
        return with_gates(settings, (await find_test_sets(root, settings)).sources)
    except UsageError:
        return settings


async def discover(
    root: Path, settings: Settings, *, environ: Mapping[str, str], spared: bool = False, find: Find = find_all
) -> Found:
    """Everything that holds suites.

    Args:
        environ: the environment, which has what some need. spared: suites that lack something are left out.
        find: looks for them.
    """
    found = await _found(root, settings, find)
    told = Found(notices=tuple([notice async for notice in _notices(root, environ)]))
    return with_needs(found, with_gates(settings, found.sources), environ, spared=spared) + told


async def _found(root: Path, settings: Settings, find: Find) -> Found:
    """What is found, and where the base's settings say what that is, also what the change adds to it."""
    head = settings.proposed
    if head is None or head.paths == settings.paths:
        return await find(root, settings)
    try:
        found = await find(root, settings)
    except UsageError as error:
        found = Found((Source(", ".join(settings.paths), Kind.PYTHON, error=error.message),))
    known = {(source.kind, source.path) for source in found.sources}
    others = await find(root, settings.model_copy(update={"paths": head.paths}))
    return found + Found(tuple(each for each in others.sources if (each.kind, each.path) not in known))


async def _notices(root: Path, environ: Mapping[str, str]) -> AsyncIterator[str]:
    """Notices about the environment that suites run in."""
    identity = find_identity(environ)
    if (why := missing_isolation(environ)) is not None:
        yield why
    if identity is not None and not identity.owns:
        yield "the workspace belongs to root, so suites cannot write into it"
    if environ.get("GITHUB_ACTIONS") == "true" and await git.keeps_token(root):
        yield "actions/checkout left the job's token where suites can read it: give it `persist-credentials: false`"
    if names := short_secrets(environ):
        several = "their values have" if len(names) > 1 else "its value has"
        yield f"{', '.join(names[:_MOST_NAMES])}: {several} fewer than 8 characters, too few to be redacted in reports"
