"""What the files of suites that are data set for these in the base: no change can set other limits for them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath

from scoregate.ci.commit_files import CommitFiles
from scoregate.ci.discover.files import FOLDER, TEST_SETS
from scoregate.ci.discover.suite_documents import gates_of
from scoregate.ci.plan import Kind, Source
from scoregate.ci.policies import with_gates
from scoregate.ci.settings import Settings
from scoregate.ci.settings.layers import OF_THE_BASE

_TABLE = "testset"


async def with_base_gates(settings: Settings, files: CommitFiles, folder: str) -> Settings:
    """The base's settings with what the files of suites set in its commit.

    Args:
        files: of the base's commit. folder: the project's within the repository.

    Raises:
        GitError, GitHubRefused: the files cannot be read. StoreError: one of them sets what cannot be set.
    """
    sources = []
    for path in _candidates(await files.list(), folder, settings.paths):
        content = await files.read(path)
        if content is not None and (source := _source(path, content.decode("utf-8-sig", "replace"))) is not None:
            sources.append(source)
    return with_gates(settings, sources)


def _candidates(names: tuple[str, ...], folder: str, paths: tuple[str, ...]) -> Iterator[str]:
    """The files of TOML that discovery would look into."""
    places = [PurePosixPath(folder, path) for path in (FOLDER, *paths)]
    for name in names:
        path = PurePosixPath(name)
        below = any(path.is_relative_to(place) for place in places)
        named = path.is_relative_to(folder) and any(path.match(pattern) for pattern in TEST_SETS.patterns)
        if path.suffix == TEST_SETS.suffix and (below or named):
            yield name


def _source(path: str, text: str) -> Source | None:
    from scoregate.store.suite_files import suite_name

    try:
        table = tomllib.loads(text).get(_TABLE)
    except (ValueError, RecursionError):
        return None
    if not isinstance(table, dict):
        return None
    name = table.get("name")
    suite = suite_name(name if isinstance(name, str) else None, PurePosixPath(path))
    return Source(path, Kind.TESTSET, suite_ids=(suite,), gates=gates_of(text, shown=f"{path}{OF_THE_BASE}"))
