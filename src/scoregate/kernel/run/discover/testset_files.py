"""Suites that are data: TOML files with a table `[testset]`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from scoregate.errors import UsageError
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.discover.files import TEST_SETS, Candidate, ProjectFiles, find_candidates
from scoregate.kernel.run.plan import DiscoveredSuites, SkippedSource, SourceKind, SuiteSource


async def find_test_sets(files: ProjectFiles, settings: Settings) -> DiscoveredSuites:
    """The suites that are data, under the paths of the settings or in the default places.

    Nothing is found if commands or test configs were named to be run.

    Raises:
        UsageError: a path does not exist, or a file that was named is not a suite.
    """
    if settings.skip_reason("paths"):
        return DiscoveredSuites()
    candidates = await find_candidates(files, settings.paths, origin=settings.origin("paths"), kind=TEST_SETS)
    if not candidates:
        return DiscoveredSuites()
    # The models of the store take 50 ms to build (measured), and most projects have no such files.
    from scoregate.kernel.run.discover.testset_documents import inspect_file

    results = [inspect_file(files.root, file) for file in candidates]
    _check_named_files(results, {file.path for file in candidates if file.named})
    sources = tuple(each for each in results if isinstance(each, SuiteSource))
    return DiscoveredSuites(
        sources, tuple(each for each in results if isinstance(each, SkippedSource) and each.notable)
    )


def _check_named_files(results: Iterable[SuiteSource | SkippedSource], named: set[str]) -> None:
    if bad := [f"{each.path} {each.why}" for each in results if isinstance(each, SkippedSource) and each.path in named]:
        raise UsageError("\n".join(bad), advice="A suite file has a table [testset] with an endpoint.")


def find_in_tree(tree: Path, sources: Iterable[SuiteSource]) -> Iterator[SuiteSource]:
    """The suites of another tree whose files are among these sources."""
    for source in sources:
        if source.kind is SourceKind.TESTSET:
            from scoregate.kernel.run.discover.testset_documents import inspect_file

            result = inspect_file(tree, Candidate(source.path, source.why))
            if isinstance(result, SuiteSource):
                yield result
