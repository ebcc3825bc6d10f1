"""One test set that was named to be run, whatever it is: a suite's file, a file of tests, or one of the store's."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from pydantic import ValidationError

from scoregate.ci.discover.files import TOML, Candidate
from scoregate.ci.discover.suite_sources import Order, Problems, broken, read, source_of
from scoregate.ci.plan import Found, Source
from scoregate.errors import StoreError, UsageError
from scoregate.store import TEST_SETS, open_store
from scoregate.store.location import FOLDER
from scoregate.store.paths import path_of
from scoregate.store.problems import said
from scoregate.store.suite_files import TABLES, SuiteFile, set_called

_WHY = "named by the command line"


def find_named(root: Path, named: str, *, cwd: Path, endpoint: str | None, metrics: tuple[str, ...]) -> Found:
    """It, as the only source of suites.

    Args:
        named: a path from `cwd`, else the id or the name of a test set in the store.
        endpoint: in the place of a file's own; paths are from `cwd`. metrics: names of metrics, also in their place.

    Raises:
        UsageError: there is no such thing, it takes an endpoint, or it cannot be run as it is defined.
    """
    way = Path(os.path.relpath(cwd, root))
    asked = {"endpoint": _moved(endpoint, way), "metrics": list(metrics)}
    path, table = cwd / named, {key: value for key, value in asked.items() if value}
    relative = os.path.normpath(way / named)
    if path.suffix == TOML and path.is_file():
        return _alone(_of_file(root, relative, table))
    if endpoint is None:
        raise UsageError(f"{named!r:.200} has no endpoint of its own", advice="Name one: --endpoint NAME|FILE|ADDRESS.")
    if path.suffix in TABLES and path.is_file():
        return _alone(_of_table(root, relative, {"name": path.stem, "tests": relative, **table}))
    try:
        own = set_called(named, open_store(root))
    except StoreError as error:
        raise UsageError(f"{error.message}, nor a file of tests or a suite's", advice=error.advice) from None
    kept = path_of(Path(FOLDER), TEST_SETS, (own,)).as_posix()
    return _alone(_of_table(root, kept, {"name": own, "set": own, **table}))


def _alone(source: Source) -> Found:
    if source.error is not None:
        raise UsageError(source.error)
    return Found((source,), narrowed=True)


def _moved(endpoint: str | None, way: Path) -> str | None:
    """A file's path from the root; what is no file as it is."""
    return os.path.normpath(way / endpoint) if endpoint and endpoint.endswith(TOML) else endpoint


def _of_file(root: Path, path: str, table: dict[str, Any]) -> Source:
    file, problems = Candidate(path, _WHY, named=True), Problems()
    order = read(root, path, (root / path).read_bytes().decode("utf-8-sig", "replace"), problems)
    if order is None:
        return broken(file, problems.told)
    if table:
        order = replace(order, **_instead(order.suite, PurePath(path), table))
    return source_of(root, file, order, problems)


def _instead(suite: SuiteFile, path: PurePath, table: dict[str, Any]) -> dict[str, Any]:
    """A suite with other words in its table, whose paths are from the root, and those in its file from its folder."""
    document = suite.model_dump(mode="json", exclude_unset=True, exclude={"gates"})
    if (named := table.get("endpoint")) is not None:
        document.pop("endpoint", None)
        if named.endswith(TOML):
            table = {**table, "endpoint": os.path.relpath(named, path.parent)}
    if "metrics" in table:
        document.pop("metrics", None)
    document["testset"] |= table
    return {"document": document, "suite": SuiteFile.model_validate(document)}


def _of_table(root: Path, path: str, table: dict[str, Any]) -> Source:
    """A suite without a file of its own; what it names is looked for from the root."""
    file, document = Candidate(path, _WHY, named=True), {"testset": table}
    try:
        suite = SuiteFile.model_validate(document)
    except ValidationError as error:
        raise UsageError(said(error)) from None
    return source_of(root, file, Order("the command line", suite, document=document), Problems())
