"""Suites as TOML files. A file names the tests, the endpoint and the metrics."""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError, model_validator

from scoregate.errors import StoreError
from scoregate.kernel.types.text import replace_surrogates
from scoregate.store.endpoints import ENDPOINTS, StoredEndpoint
from scoregate.store.errors import error_message
from scoregate.store.kinds import Kind
from scoregate.store.lookup import find_document, list_documents
from scoregate.store.metrics import StoredMetric
from scoregate.store.protocol import Store
from scoregate.store.review_records import Item
from scoregate.store.test_sets import TEST_SETS
from scoregate.store.toml import TOML, Document

Text = Annotated[str, Field(min_length=1), AfterValidator(replace_surrogates)]
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
_SUFFIX = ".testset"
_ENDPOINT_PATTERNS = (
    (re.compile(r"https?://"), "REST"),
    (re.compile(r"wss?://"), "WebSocket"),
    (re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*$"), "SDK"),
)
# The parts of a URL that may be secret. They are removed from error messages.
_SECRET_PARTS = re.compile(r"(?<=//)[^/@]*@|\?.*")


class TestSetTable(Item):
    """The table `[testset]`. Paths are relative to the folder of the file.

    Attributes:
        name: the suite's id; default: the name of the file without its suffix.
        description: a text for people.
        tests: a file of tests. Without `tests` and `set`: the file in the same folder with the same name.
        set: a test set of the store, by id or name.
        endpoint: an endpoint of the store, by id or name; the path of a TOML file; a URL; or a function as
            "module:function". Not given if there is a table `[endpoint]`.
        metrics: names of metrics for every test, in addition to the tables `[[metrics]]`.
        model: the model of judges and of the simulated user; default: the project's.
        user_model: the model of the simulated user; default: `model`.
        max_concurrency: the number of tests at the same time; default: the endpoint's.
        timeout_seconds: the time limit for a test, in seconds.
        retries: retries of a test after transient errors.
    """

    __test__ = False  # else pytest takes the class for tests

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
    def _check_source(self) -> TestSetTable:
        if self.tests is not None and self.set is not None:
            raise ValueError("tests and set exclude each other")
        return self


class SuiteFile(Document):
    """The whole file. `gates` are limits for this suite, as in the project's settings."""

    testset: TestSetTable
    endpoint: StoredEndpoint | None = None
    metrics: tuple[StoredMetric, ...] = ()
    gates: dict[str, Any] = Field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text of the file."""
        return self._text

    @model_validator(mode="after")
    def _check_endpoint(self) -> SuiteFile:
        if (self.endpoint is None) == (self.testset.endpoint is None):
            problem = "two endpoints" if self.endpoint else "no endpoint"
            raise ValueError(f"{problem}: give either `endpoint` in [testset], or a table [endpoint]")
        return self


SUITE_FILES = Kind("suites", SuiteFile, TOML, ("suite",))


def read_suite_file(path: Path, *, shown: str) -> SuiteFile:
    """Read a suite file. `shown` is its name in error messages.

    Raises:
        StoreError: lists all errors with their lines.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        (suite_file,) = TOML.read(file, SUITE_FILES, origin=shown)
    return suite_file


def suite_name(name: str | None, path: PurePath) -> str:
    """The suite's id: the name in the file, else the name of the file."""
    return name or path.stem.removesuffix(_SUFFIX) or path.stem


def find_tests_file(file: SuiteFile, path: Path) -> Path:
    """The file of the tests, if they are not in a test set of the store.

    Raises:
        StoreError: there is none.
    """
    named = file.testset.tests
    stems = dict.fromkeys((path.stem.removesuffix(_SUFFIX), path.stem))
    default_files = [path.with_name(stem + suffix) for stem in stems for suffix in TABLES]
    candidates = [path.parent / named] if named else default_files
    if (file_path := next((each for each in candidates if each.is_file()), None)) is not None:
        return file_path
    sought = repr(named) if named else f"{path.stem.removesuffix(_SUFFIX)}{{{','.join(TABLES)}}}"
    raise StoreError(
        f"there is no file of tests {sought:.200} in its folder", advice="Name the file with `tests` in [testset]."
    )


def load_endpoint(file: SuiteFile, path: Path, store: Store) -> StoredEndpoint:
    """The endpoint that runs the tests.

    Raises:
        StoreError: there is no such endpoint, or something is wrong with it.
    """
    if file.endpoint is not None:
        return file.endpoint
    return resolve_endpoint(str(file.testset.endpoint), store, folder=path.parent)


def resolve_endpoint(name: str, store: Store, *, folder: Path) -> StoredEndpoint:
    """Find an endpoint by name.

    Args:
        name: a file if it ends in .toml; a URL; a function as "module:function"; else an id or a name in the store.
        store: the store.
        folder: the folder of the files.

    Raises:
        StoreError: there is no such endpoint, or it is invalid.
    """
    if name.endswith(".toml"):
        path = folder / name
        try:
            with path.open("rb") as file:
                (endpoint,) = TOML.read(file, ENDPOINTS, origin=name)
        except OSError as error:
            raise StoreError(f"the endpoint's file {name:.200} cannot be read: {error.strerror}") from None
        return endpoint if endpoint.name or endpoint.id else endpoint.model_copy(update={"name": path.stem})
    kind = next((kind for pattern, kind in _ENDPOINT_PATTERNS if pattern.match(name)), None)
    if kind is None:
        stored: StoredEndpoint = _resolve_document(store, ENDPOINTS, name)
        return stored
    try:
        return StoredEndpoint.model_validate({"connection_type": kind, "function" if kind == "SDK" else "url": name})
    except ValidationError as error:
        raise StoreError(f"the endpoint {_SECRET_PARTS.sub('', name)!r:.100}: {error_message(error)}") from None


def resolve_test_set_id(name: str, store: Store) -> str:
    """The id of the test set in the store with this id, else with this name.

    Raises:
        StoreError: there is none.
    """
    return str(_resolve_document(store, TEST_SETS, name).id)


def _resolve_document(store: Store, kind: Kind[Any], name: str) -> Any:
    """The document with this id, else with this name, ignoring case."""
    title = kind.key_parts[0]
    if (document := find_document(store, kind, name)) is not None:
        return document
    documents = list(list_documents(store, kind))
    matches = [each for each in documents if each.name.casefold() == name.casefold()]
    if len(matches) == 1:
        return matches[0]
    if matches:
        ids = ", ".join(each.id for each in matches)
        raise StoreError(f"several {kind.name} have the name {name!r:.200}", advice=f"Name it by its id: {ids:.500}.")
    known = ", ".join(each.id for each in documents)
    raise StoreError(f"there is no {title} {name!r:.200}", advice=f"There are: {known:.500}." if known else "")
