"""Suites that are data: a file of TOML that says which tests are put to which endpoint, and what judges the answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError, model_validator

from scoregate.core.text import replace_surrogates
from scoregate.errors import StoreError
from scoregate.store.endpoints import ENDPOINTS, StoredEndpoint
from scoregate.store.errors import said
from scoregate.store.kinds import Kind
from scoregate.store.lookup import head_of, heads
from scoregate.store.metrics import StoredMetric
from scoregate.store.protocol import Store
from scoregate.store.review_records import Item
from scoregate.store.test_sets import TEST_SETS
from scoregate.store.toml import TOML, Document

Text = Annotated[str, Field(min_length=1), AfterValidator(replace_surrogates)]
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
_ENDING = ".testset"
_BARE = (
    (re.compile(r"https?://"), "REST"),
    (re.compile(r"wss?://"), "WebSocket"),
    (re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*$"), "SDK"),
)
# What is shown of an address that cannot be used: nothing that may be a secret.
_SHOWN = re.compile(r"(?<=//)[^/@]*@|\?.*")


class TestSetTable(Item):
    """The table `[testset]`. Paths are relative to the file's folder.

    Attributes:
        name: the suite's id; if not given, the file's name without its end.
        tests: a file of tests; if neither it nor `set` is given, the one beside the file that has its name.
        set: a test set of the store, by id or name.
        endpoint: one of the store, by id or name; the path of a file of TOML; an address, or a function as
            "module:function", where nothing else is to be said. Or there is a table `[endpoint]`.
        metrics: names of metrics, for every test, besides those of the tables `[[metrics]]`.
        model: judges, and plays the user in conversations, in the place of the project's.
        user_model: plays the user in the place of that.
        max_concurrency: tests at a time, in the place of the endpoint's. timeout_seconds: that a test may take.
        retries: of a test, after an error that may pass.
    """

    __test__ = False

    name: Text | None = None
    description: Text | None = None
    tests: Text | None = None
    set: Text | None = None
    endpoint: Text | None = None
    metrics: tuple[Text, ...] = ()
    model: Text | None = None
    user_model: Text | None = None
    max_concurrency: int | None = Field(default=None, ge=1, le=1000)
    timeout_seconds: float | None = Field(default=None, gt=0)
    retries: int = Field(default=0, ge=0, le=10)

    @model_validator(mode="after")
    def _of_one_source(self) -> TestSetTable:
        if self.tests is not None and self.set is not None:
            raise ValueError("tests and set exclude each other")
        return self


class SuiteFile(Document):
    """The whole file. `gates` are limits for this suite, as the project's settings have them."""

    testset: TestSetTable
    endpoint: StoredEndpoint | None = None
    metrics: tuple[StoredMetric, ...] = ()
    gates: dict[str, Any] = Field(default_factory=dict)

    @property
    def text(self) -> str:
        """As it stands in the file."""
        return self._text

    @model_validator(mode="after")
    def _of_one_endpoint(self) -> SuiteFile:
        if (self.endpoint is None) == (self.testset.endpoint is None):
            said = "both are there" if self.endpoint else "there is neither"
            raise ValueError(f"an endpoint is named by `endpoint` in [testset], or is a table [endpoint]: {said}")
        return self


SUITE_FILES = Kind("suites", SuiteFile, TOML, ("suite",))


def read_suite_file(path: Path, *, shown: str) -> SuiteFile:
    """Read one; `shown` is what it is called in messages.

    Raises:
        StoreError: all that is wrong with it, each with its line. OSError: it cannot be read.
    """
    with path.open("rb") as file:
        (found,) = TOML.read(file, SUITE_FILES, origin=shown)
    return found


def suite_name(name: str | None, path: PurePath) -> str:
    """The suite's id: the name in its file, else the file's."""
    return name or path.stem.removesuffix(_ENDING) or path.stem


def file_of_tests(file: SuiteFile, path: Path) -> Path:
    """The file of the tests, where they are in none of the store's sets.

    Raises:
        StoreError: there is none.
    """
    named = file.testset.tests
    candidates = [path.parent / named] if named else list(_beside(path))
    if (found := next((each for each in candidates if each.is_file()), None)) is not None:
        return found
    sought = repr(named) if named else f"{path.stem.removesuffix(_ENDING)}{{{','.join(TABLES)}}}"
    raise StoreError(f"there is no file of tests {sought:.200} beside it", advice="`tests` in [testset] names it.")


def _beside(path: Path) -> Iterator[Path]:
    for stem in dict.fromkeys((path.stem.removesuffix(_ENDING), path.stem)):
        yield from (path.with_name(stem + suffix) for suffix in TABLES)


def endpoint_of(file: SuiteFile, path: Path, store: Store) -> StoredEndpoint:
    """What the tests are put to.

    Raises:
        StoreError: there is no such endpoint, or something is wrong with it.
    """
    if file.endpoint is not None:
        return file.endpoint
    return endpoint_called(str(file.testset.endpoint), store, beside=path.parent)


def endpoint_called(name: str, store: Store, *, beside: Path) -> StoredEndpoint:
    """The endpoint of a file, if the name ends in .toml; an address or a function by itself; else that of the store
    which has this id, else this name.

    Args:
        beside: the folder that files are looked for in.

    Raises:
        StoreError: there is none, or something is wrong with it.
    """
    if name.endswith(".toml"):
        return _in_file(beside / name, name)
    if (kind := next((kind for pattern, kind in _BARE if pattern.match(name)), None)) is not None:
        return _bare(name, kind)
    found: StoredEndpoint = _called(store, ENDPOINTS, name)
    return found


def _bare(name: str, kind: str) -> StoredEndpoint:
    """One that takes and gives what endpoints do by default."""
    try:
        return StoredEndpoint.model_validate({"connection_type": kind, "function" if kind == "SDK" else "url": name})
    except ValidationError as error:
        raise StoreError(f"the endpoint {_SHOWN.sub('', name)!r:.100}: {said(error)}") from None


def _in_file(path: Path, shown: str) -> StoredEndpoint:
    try:
        with path.open("rb") as file:
            (found,) = TOML.read(file, ENDPOINTS, origin=shown)
    except OSError as error:
        raise StoreError(f"the endpoint's file {shown:.200} cannot be read: {error.strerror}") from None
    return found if found.name or found.id else found.model_copy(update={"name": path.stem})


def set_called(name: str, store: Store) -> str:
    """The id of the test set of the store which has this id, else this name.

    Raises:
        StoreError: there is none.
    """
    return str(_called(store, TEST_SETS, name).id)


def _called(store: Store, kind: Kind[Any], name: str) -> Any:
    """As the kinds of the store are named everywhere: by id, else by name in whatever case."""
    what = kind.shelf[0]
    if (found := head_of(store, kind, name)) is not None:
        return found
    there = list(heads(store, kind))
    named = [each for each in there if each.name.casefold() == name.casefold()]
    if len(named) == 1:
        return named[0]
    if named:
        ids = ", ".join(each.id for each in named)
        raise StoreError(f"several {kind.name} have the name {name!r:.200}", advice=f"Name it by its id: {ids:.500}.")
    known = ", ".join(each.id for each in there)
    raise StoreError(f"there is no {what} {name!r:.200}", advice=f"There are: {known:.500}." if known else "")
