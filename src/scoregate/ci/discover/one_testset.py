"""The test set that was named to be run: a suite's file, a file of tests, or a test set of the store."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from pydantic import ValidationError

from scoregate.ci.discover.files import TOML, Candidate
from scoregate.ci.discover.testset_files import (
    FileProblems,
    WorkerCommand,
    make_broken_source,
    make_source,
    read_command,
)
from scoregate.ci.plan import DiscoveredSuites, Source
from scoregate.errors import StoreError, UsageError
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
    way = Path(os.path.relpath(cwd, root))
    asked = {"endpoint": _relocate_endpoint(endpoint, way), "metrics": list(metrics)}
    path, table = cwd / named, {key: value for key, value in asked.items() if value}
    relative = os.path.normpath(way / named)
    if path.suffix == TOML and path.is_file():
        return _single_source(_read_suite_file(root, relative, table))
    if endpoint is None:
        raise UsageError(f"{named!r:.200} has no endpoint", advice="Name one: --endpoint NAME|FILE|ADDRESS.")
    if path.suffix in TABLES and path.is_file():
        return _single_source(_make_table_source(root, relative, {"name": path.stem, "tests": relative, **table}))
    try:
        own = resolve_test_set_id(named, open_store(root))
    except StoreError as error:
        raise UsageError(f"{error.message}, nor a file of tests or a suite's", advice=error.advice) from None
    kept = collection_path(Path(FOLDER), TEST_SETS, (own,)).as_posix()
    return _single_source(_make_table_source(root, kept, {"name": own, "set": own, **table}))


def _single_source(source: Source) -> DiscoveredSuites:
    if source.error is not None:
        raise UsageError(source.error)
    return DiscoveredSuites((source,), narrowed=True)


def _relocate_endpoint(endpoint: str | None, way: Path) -> str | None:
    """The path of an endpoint's file from the root; names and addresses are unchanged."""
    return os.path.normpath(way / endpoint) if endpoint and endpoint.endswith(TOML) else endpoint


def _read_suite_file(root: Path, path: str, table: dict[str, Any]) -> Source:
    file, problems = Candidate(path, _WHY, named=True), FileProblems()
    order = read_command(root, path, (root / path).read_bytes().decode("utf-8-sig", "replace"), problems)
    if order is None:
        return make_broken_source(file, problems.messages)
    if table:
        order = replace(order, **_replace_options(order.suite, PurePath(path), table))
    return make_source(root, file, order, problems)


def _replace_options(suite: SuiteFile, path: PurePath, table: dict[str, Any]) -> dict[str, Any]:
    """A suite with options that replace those in its file; paths in the file are relative to its folder."""
    document = suite.model_dump(mode="json", exclude_unset=True, exclude={"gates"})
    if (named := table.get("endpoint")) is not None:
        document.pop("endpoint", None)
        if named.endswith(TOML):
            table = {**table, "endpoint": os.path.relpath(named, path.parent)}
    if "metrics" in table:
        document.pop("metrics", None)
    document["testset"] |= table
    return {"document": document, "suite": SuiteFile.model_validate(document)}


def _make_table_source(root: Path, path: str, table: dict[str, Any]) -> Source:
    """A suite without a file of its own; paths in it are relative to the root."""
    file, document = Candidate(path, _WHY, named=True), {"testset": table}
    try:
        suite = SuiteFile.model_validate(document)
    except ValidationError as error:
        raise UsageError(error_message(error)) from None
    return make_source(root, file, WorkerCommand("the command line", suite, document=document), FileProblems())
