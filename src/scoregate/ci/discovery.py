"""Find the suites of a project: from the table of sources, then filters and required variables."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

from scoregate.ci import git
from scoregate.ci.discover.python_files import find_scripts
from scoregate.ci.discover.settings_sources import find_commands, find_configs
from scoregate.ci.discover.testset_files import find_test_sets
from scoregate.ci.plan import DiscoveredSuites, SkippedSource, Source, SourceKind
from scoregate.ci.policy import with_gates
from scoregate.ci.protection import missing_isolation
from scoregate.ci.secrets import short_secrets
from scoregate.ci.settings import Settings
from scoregate.ci.user_ids import find_identity
from scoregate.core.text import matches_filters
from scoregate.errors import UsageError

FindSuites: TypeAlias = Callable[[Path, Settings], Awaitable[DiscoveredSuites]]
SOURCES: tuple[FindSuites, ...] = (find_scripts, find_commands, find_configs, find_test_sets)
_MOST_NAMES = 5


async def discover(
    root: Path,
    settings: Settings,
    *,
    environ: Mapping[str, str],
    skip_missing: bool = False,
    find: FindSuites | None = None,
) -> DiscoveredSuites:
    """Find everything that holds suites, with notices about the environment.

    Args:
        root: the project.
        settings: of the project.
        environ: the environment, with the variables that some suites need.
        skip_missing: skip suites whose variables are not set, instead of failing them.
        find: finds the suites; `find_suites` by default.
    """
    found = await _find_with_proposed(root, settings, find or find_suites)
    found = check_required_env(found, with_gates(settings, found.sources), environ, skip_missing=skip_missing)
    return found + DiscoveredSuites(notices=tuple([notice async for notice in _environment_notices(root, environ)]))


async def find_suites(root: Path, settings: Settings) -> DiscoveredSuites:
    """The suites of every source that match the filters."""
    found = DiscoveredSuites()
    for find in SOURCES:
        found += await find(root, settings)
    return select_suites(found, settings.suite)


async def with_suite_gates(root: Path, settings: Settings) -> Settings:
    """The settings with the gates in suites' files, for a run that is judged where nothing is run.

    If the project itself is missing, as in a job that only has its runs, the settings stay as they are.
    """
    try:
        return with_gates(settings, (await find_test_sets(root, settings)).sources)
    except UsageError:
        return settings


async def _find_with_proposed(root: Path, settings: Settings, find: FindSuites) -> DiscoveredSuites:
    """The suites by the settings; if these are the base's, also the suites that the change adds."""
    head = settings.proposed
    if head is None or head.paths == settings.paths:
        return await find(root, settings)
    try:
        found = await find(root, settings)
    except UsageError as error:
        broken = Source(", ".join(settings.paths), SourceKind.PYTHON, error=error.message)
        found = DiscoveredSuites((broken,))
    known = {(source.kind, source.path) for source in found.sources}
    others = await find(root, settings.model_copy(update={"paths": head.paths}))
    return found + DiscoveredSuites(tuple(each for each in others.sources if (each.kind, each.path) not in known))


def select_suites(found: DiscoveredSuites, globs: Sequence[str]) -> DiscoveredSuites:
    """Drop the sources of which no suite's id matches, as far as ids are known; report ids that are used twice."""
    dropped = [source for source in found.sources if not _matches_filters(source, globs)]
    kept = tuple(source for source in found.sources if source not in dropped)
    skipped = (*found.skipped, *(_make_skipped(source, globs) for source in dropped))
    return replace(found, sources=kept, skipped=skipped, notices=(*found.notices, *_duplicate_id_notices(kept)))


def _matches_filters(source: Source, globs: Iterable[str]) -> bool:
    ids = source.suite_ids
    return ids is None or source.error is not None or any(matches_filters(suite, globs) for suite in ids)


def _make_skipped(source: Source, globs: Iterable[str]) -> SkippedSource:
    ids = source.suite_ids or ()
    return SkippedSource(source.path, f"its suites ({', '.join(ids)}) match none of {', '.join(globs)}", left_out=ids)


def _duplicate_id_notices(sources: Iterable[Source]) -> Iterator[str]:
    files: dict[str, list[str]] = {}
    for source in sources:
        for suite in source.suite_ids or ():
            files.setdefault(suite, []).append(source.path)
    for suite, paths in files.items():
        if len(paths) > 1:
            yield f"the suite id {suite} is used in {', '.join(paths)}; reports add the file to the name of each"


def check_required_env(
    found: DiscoveredSuites, settings: Settings, environ: Mapping[str, str], *, skip_missing: bool
) -> DiscoveredSuites:
    """Skip or fail suites that need variables, such as a model's key, which a fork's job does not have.

    Args:
        found: the suites.
        settings: name what suites need.
        environ: the environment.
        skip_missing: skip suites whose variables are not set, with a notice, instead of failing them.
    """
    missing = {source: names for source in found.sources if (names := _missing_variables(source, settings, environ))}
    if not skip_missing:
        return replace(found, sources=tuple(_with_error(source, missing.get(source)) for source in found.sources))
    skipped = tuple(
        SkippedSource(source.path, _missing_message(source, names), suite_ids=source.suite_ids or ())
        for source, names in missing.items()
    )
    return replace(
        found,
        sources=tuple(source for source in found.sources if source not in missing),
        skipped=(*found.skipped, *skipped),
        notices=(*found.notices, *(f"{each.path} was skipped: {each.why}" for each in skipped)),
    )


def _missing_variables(source: Source, settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    names = (*(source.suite_ids or ()), source.path)
    tables = (table for glob, table in settings.suites.items() if any(fnmatchcase(name, glob) for name in names))
    needs = (*source.needs, *(need for table in tables for need in table.needs))
    return tuple(dict.fromkeys(need for need in needs if not environ.get(need)))


def _with_error(source: Source, missing: tuple[str, ...] | None) -> Source:
    if not missing or source.error is not None:
        return source
    return replace(source, error=f"{source.path}: {_missing_message(source, missing)}")


def _missing_message(source: Source, missing: tuple[str, ...]) -> str:
    verb = "is" if len(missing) == 1 else "are"
    reason = "its endpoint needs" if set(missing) <= set(source.needs) else "the settings list as needed"
    return f"{', '.join(missing)} {verb} not set, which {reason}"


async def _environment_notices(root: Path, environ: Mapping[str, str]) -> AsyncIterator[str]:
    """Notices about the environment that suites run in."""
    identity = find_identity(environ)
    if (why := missing_isolation(environ)) is not None:
        yield why
    if identity is not None and not identity.owns:
        yield "the workspace belongs to root, so suites can't write into it"
    if environ.get("GITHUB_ACTIONS") == "true" and await git.has_stored_token(root):
        yield (
            "suites can read the job's token, which actions/checkout stored: "
            "set `persist-credentials: false` for actions/checkout"
        )
    if names := short_secrets(environ):
        subject = "their values have" if len(names) > 1 else "its value has"
        yield f"{', '.join(names[:_MOST_NAMES])}: {subject} fewer than 8 characters, so reports don't redact it"
