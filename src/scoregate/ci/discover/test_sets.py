"""Suites that are data: files of TOML with a table `[testset]`, beside their tests."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from scoregate.ci.discover.files import TEST_SETS, Candidate, candidates
from scoregate.ci.plan import Found, Kind, Skipped, Source
from scoregate.ci.settings import Settings
from scoregate.errors import StoreError, UsageError

MAX_BYTES = 5 * 1024 * 1024
_TABLE = "testset"
_WORKER = ("-m", "scoregate.worker", "testset")
T = TypeVar("T")


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
        text = path.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        return _broken(file, [f"{file.path} cannot be read: {error.strerror}"])
    return _read(root, file, text) if _is_one(text) else Skipped(file.path, "has no table [testset]")


def _is_one(text: str) -> bool:
    """Whether it has the table; of what is no TOML, whether it may have been meant to."""
    if _TABLE not in text:
        return False
    try:
        return _TABLE in tomllib.loads(text)
    except ValueError:
        return f"[{_TABLE}" in text


def _read(root: Path, file: Candidate, text: str) -> Source:
    from scoregate.ci.discover.suite_documents import checked, gates_of
    from scoregate.store import open_store
    from scoregate.store.suite_files import read_suite_file, suite_name
    from scoregate.store.toml_lines import line_of

    path, problems = root / file.path, Problems()
    suite = problems.none_of(lambda: read_suite_file(path, shown=file.path))
    gates = problems.none_of(lambda: gates_of(text, shown=file.path))
    if suite is None:
        return _broken(file, problems)
    name, line = suite_name(suite, path), line_of(text, (_TABLE,))
    document = problems.none_of(lambda: checked(suite, path, open_store(root), shown=file.path))
    if document is None or problems:
        return _broken(file, problems, (name,))
    return Source(
        file.path,
        Kind.TESTSET,
        line,
        (name,),
        why=f"{file.why}, has a table [testset]",
        argv=(*_WORKER, json.dumps({"file": file.path, "line": line, "path": file.path, "name": name})),
        needs=document.needs,
        gates=gates,
        apart=document.apart,
    )


class Problems(list[str]):
    """What is wrong with a file, each with its line."""

    def none_of(self, read: Callable[[], T]) -> T | None:
        """What was read; None where that raised, which is kept."""
        try:
            return read()
        except StoreError as error:
            self.extend(error.message.splitlines())
        return None


def _broken(file: Candidate, problems: Iterable[str], suite_ids: tuple[str, ...] | None = None) -> Source:
    return Source(file.path, Kind.TESTSET, suite_ids=suite_ids, why=file.why, error="; ".join(problems))


def _check_named(looked: Iterable[Source | Skipped], named: set[str]) -> None:
    if bad := [f"{each.path} {each.why}" for each in looked if isinstance(each, Skipped) and each.path in named]:
        raise UsageError("\n".join(bad), advice="A suite that is data has a table [testset] with its endpoint.")
