"""Suites that are data: files of TOML with a table `[testset]`, beside their tests."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from scoregate.ci.discover.files import TEST_SETS, Candidate, candidates
from scoregate.ci.plan import Found, Kind, Skipped, Source
from scoregate.ci.settings import Settings
from scoregate.errors import StoreError, UsageError

MAX_BYTES = 5 * 1024 * 1024
_MARK = b"testset"
_WORKER = ("-m", "scoregate.worker", "testset")
_NO_TABLE = "has no table [testset]"


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
    return Found(sources, tuple(each for each in looked if isinstance(each, Skipped)))


def found_again(tree: Path, sources: Iterable[Source]) -> Iterator[Source]:
    """Those of these suites that another tree has too, as they are there."""
    for source in sources:
        if source.kind is Kind.TESTSET:
            there = look(tree, Candidate(source.path, source.why))
            if isinstance(there, Source):
                yield there


def look(root: Path, file: Candidate) -> Source | Skipped:
    """What a file is."""
    path = root / file.path
    try:
        if not path.is_file():
            return Skipped(file.path, "no file")
        if path.stat().st_size > MAX_BYTES:
            return Skipped(file.path, "too large to be a suite", notable=True)
        data = path.read_bytes()
    except OSError as error:
        told = f"{file.path} cannot be read: {error.strerror}"
        return Source(file.path, Kind.TESTSET, why=file.why, error=told)
    return _read(root, file) if _is_one(data) else Skipped(file.path, _NO_TABLE)


def _is_one(data: bytes) -> bool:
    """Whether it has the table; of what is no TOML, whether it may have been meant to."""
    if _MARK not in data:
        return False
    try:
        return "testset" in tomllib.loads(data.decode("utf-8-sig"))
    except ValueError:
        return b"[testset" in data


def _read(root: Path, file: Candidate) -> Source:
    from scoregate.ci.discover.suite_documents import checked, gates_of
    from scoregate.store import open_store
    from scoregate.store.suite_files import read_suite_file, suite_name

    path, name = root / file.path, None
    try:
        suite = read_suite_file(path, shown=file.path)
        name = suite_name(suite, path)
        gates = gates_of(suite, file.path)
        document = checked(suite, path, open_store(root), shown=file.path)
    except StoreError as error:
        names = None if name is None else (name,)
        return Source(file.path, Kind.TESTSET, suite_ids=names, why=file.why, error=f"{error}")
    return Source(
        file.path,
        Kind.TESTSET,
        suite_ids=(name,),
        why=f"{file.why}, has a table [testset]",
        argv=(*_WORKER, json.dumps({"file": file.path})),
        needs=document.needs,
        gates=gates,
        apart=document.apart,
    )


def _check_named(looked: Iterable[Source | Skipped], named: set[str]) -> None:
    if bad := [f"{each.path} {each.why}" for each in looked if isinstance(each, Skipped) and each.path in named]:
        raise UsageError("\n".join(bad), advice="A suite that is data has a table [testset] with its endpoint.")
