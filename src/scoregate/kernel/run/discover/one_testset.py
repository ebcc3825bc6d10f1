"""The test set that the command line names: a suite's file, a file of tests, or a test set of the store."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from pydantic import ValidationError

from scoregate.errors import StoreError, UsageError
from scoregate.kernel.run.discover.files import TOML, Candidate
from scoregate.kernel.run.discover.testset_documents import (
    FileProblems,
    WorkerCommand,
    make_broken_source,
    make_source,
    read_command,
)
from scoregate.kernel.run.plan import DiscoveredSuites, SuiteSource
from scoregate.store import TEST_SETS, open_store
from scoregate.store.errors import error_message
from scoregate.store.location import FOLDER
from scoregate.store.paths import collection_path
from scoregate.store.suite_files import TABLES, SuiteFile, resolve_test_set_id

_WHY = "named by the command line"


def find_one_test_set(
    root: Path, named: str, *, cwd: Path, endpoint: str | None, metrics: tuple[str, ...]
) -> DiscoveredSuites:
    """The test set as the only source of suites.

    Args:
        root: the project.
        named: a path from `cwd`, else the id or the name of a test set in the store.
        cwd: paths are relative to it.
        endpoint: replaces the endpoint in the file.
        metrics: names of metrics, which replace the ones in the file.

    Raises:
        UsageError: there is no such test set, it needs an endpoint, or it can't be run as it is defined.
    """
    folder = Path(os.path.relpath(cwd, root))
    table: dict[str, Any] = {"metrics": list(metrics)} if metrics else {}
    if endpoint:
        table["endpoint"] = os.path.normpath(folder / endpoint) if endpoint.endswith(TOML) else endpoint
    path, relative = cwd / named, os.path.normpath(folder / named)
    if path.suffix == TOML and path.is_file():
        return _single_source(_read_suite_file(root, relative, table))
    if path.suffix in TABLES and path.is_file():
        source, defaults = relative, {"name": path.stem, "tests": relative}
    else:
        try:
            name = resolve_test_set_id(named, open_store(root))
        except StoreError as error:
            message = f"{error.message}, and no file of tests or of a suite is named so"
            raise UsageError(message, advice=error.advice or "`scoregate testset ls` lists the test sets.") from None
        source, defaults = collection_path(Path(FOLDER), TEST_SETS, (name,)).as_posix(), {"name": name, "set": name}
    if endpoint is None:
        raise UsageError(f"{named!r:.200} has no endpoint", advice="Name one: --endpoint NAME|FILE|ADDRESS.")
    return _single_source(_make_table_source(root, source, {**defaults, **table}))


def _single_source(source: SuiteSource) -> DiscoveredSuites:
    if source.error is not None:
        raise UsageError(source.error)
    return DiscoveredSuites((source,), narrowed=True)


def _read_suite_file(root: Path, path: str, table: dict[str, Any]) -> SuiteSource:
    file, problems = Candidate(path, _WHY, named=True), FileProblems()
    command = read_command(root, path, (root / path).read_bytes().decode("utf-8-sig", "replace"), problems)
    if command is None:
        return make_broken_source(file, problems.messages)
    if table:
        # Options replace those in the file. Paths in a file are relative to its folder.
        document = command.suite.model_dump(mode="json", exclude_unset=True, exclude={"gates"})
        for key in ("endpoint", "metrics"):
            if key in table:
                document.pop(key, None)
        document["testset"] |= table
        if table.get("endpoint", "").endswith(TOML):
            document["testset"]["endpoint"] = os.path.relpath(table["endpoint"], PurePath(path).parent)
        command = replace(command, document=document, suite=SuiteFile.model_validate(document))
    return make_source(root, file, command, problems)


def _make_table_source(root: Path, path: str, table: dict[str, Any]) -> SuiteSource:
    """A suite without a file of its own; paths in it are relative to the root."""
    file, document = Candidate(path, _WHY, named=True), {"testset": table}
    try:
        suite = SuiteFile.model_validate(document)
    except ValidationError as error:
        raise UsageError(error_message(error)) from None
    return make_source(root, file, WorkerCommand("the command line", suite, document=document), FileProblems())
