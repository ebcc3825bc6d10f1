"""Suites that are data: files of TOML with a table `[testset]`, beside their tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from scoregate.ci.discover.files import TEST_SETS, Candidate, candidates
from scoregate.ci.discover.suite_sources import look
from scoregate.ci.plan import Found, Kind, Skipped, Source
from scoregate.ci.settings import Settings
from scoregate.errors import UsageError


async def find_test_sets(root: Path, settings: Settings) -> Found:
    """The suites that are data, under the paths of the settings or in the usual places; none where others were named.

    Raises:
        UsageError: a path does not exist, or a file that was named is no suite.
    """
    if settings.passed_over("paths"):
        return Found()
    files = await candidates(root, settings.paths, origin=settings.origin("paths"), sort=TEST_SETS)
    looked = [look(root, file) for file in files]
    _check_named(looked, {file.path for file in files if file.named})
    sources = tuple(each for each in looked if isinstance(each, Source))
    return Found(sources, tuple(each for each in looked if isinstance(each, Skipped) and each.notable))


def found_again(tree: Path, sources: Iterable[Source]) -> Iterator[Source]:
    """Those of these suites whose files another tree has too, as they are there."""
    for source in sources:
        if source.kind is Kind.TESTSET:
            there = look(tree, Candidate(source.path, source.why))
            if isinstance(there, Source):
                yield there


def _check_named(looked: Iterable[Source | Skipped], named: set[str]) -> None:
    if bad := [f"{each.path} {each.why}" for each in looked if isinstance(each, Skipped) and each.path in named]:
        raise UsageError("\n".join(bad), advice="A suite that is data has a table [testset] with its endpoint.")
