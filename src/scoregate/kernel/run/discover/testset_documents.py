"""Reads suites that are data: their files, what they need, and their gates."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from scoregate.errors import StoreError
from scoregate.kernel.judge.settings import SuiteSettings
from scoregate.kernel.judge.settings.load import describe_problem
from scoregate.kernel.run.discover.files import Candidate
from scoregate.kernel.run.discover.packages import locate_import_folders
from scoregate.kernel.run.plan import SkippedSource, SourceKind, SuiteGates, SuiteSource
from scoregate.kernel.types.records import record
from scoregate.store import METRICS, Store, open_store
from scoregate.store.lookup import list_documents
from scoregate.store.secret_references import find_references
from scoregate.store.suite_files import (
    SuiteFile,
    find_tests_file,
    load_endpoint,
    read_suite_file,
    resolve_test_set_id,
    suite_name,
)
from scoregate.store.toml import find_line

MAX_BYTES = 5 * 1024 * 1024
T = TypeVar("T")
_TABLE = "testset"
_WORKER = ("-m", "scoregate.worker", "testset")
_GATES = "gates"


@dataclass(slots=True)
class FileProblems:
    """The problems of a file, each with its line."""

    messages: list[str] = field(default_factory=list)

    def none_of(self, read: Callable[[], T]) -> T | None:
        """Call `read`. If it raises an error, add it to the problems and return None."""
        try:
            return read()
        except StoreError as error:
            self.messages.extend(error.message.splitlines())
        return None


@record
class WorkerCommand:
    """A suite: its file, and a `document` that replaces the content of the file if options changed it.

    `path` is the path of the file from the root; paths in the document are relative to its folder.
    """

    path: str
    suite: SuiteFile
    line: int = 1
    document: dict[str, Any] | None = None
    gates: SuiteGates | None = None


@record
class SuiteNeeds:
    """What a suite needs to run.

    Args:
        needs: the environment variables that its endpoint refers to.
        uses_host_python: it uses none of the project's Python code.
    """

    needs: tuple[str, ...]
    uses_host_python: bool


def inspect_file(root: Path, file: Candidate) -> SuiteSource | SkippedSource:
    """Classify a file."""
    path = root / file.path
    try:
        if not path.is_file():
            return SkippedSource(file.path, "not a regular file")
        if path.stat().st_size > MAX_BYTES:
            return SkippedSource(file.path, "too large to be a suite", notable=True)
        text = path.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        return make_broken_source(file, [f"{file.path} can't be read: {error.strerror}"])
    if not _is_suite_file(text):
        return SkippedSource(file.path, "has no table [testset]")
    problems = FileProblems()
    command = read_command(root, file.path, text, problems)
    return (
        make_broken_source(file, problems.messages) if command is None else make_source(root, file, command, problems)
    )


def _is_suite_file(text: str) -> bool:
    """Whether it has the table; for a file with invalid TOML, whether it probably has one."""
    if _TABLE not in text:
        return False
    try:
        return _TABLE in tomllib.loads(text)
    except ValueError:
        # An invalid file with the table is an error of a suite; any other file is none.
        return f"[{_TABLE}" in text


def read_command(root: Path, shown: str, text: str, problems: FileProblems) -> WorkerCommand | None:
    """The suite in a file with this text; None if it can't be read."""
    suite = problems.none_of(lambda: read_suite_file(root / shown, shown=shown))
    # Both, so that all problems of a file are listed at once.
    gates = problems.none_of(lambda: read_gates(text, shown=shown))
    return None if suite is None else WorkerCommand(shown, suite, find_line(text, (_TABLE,)), gates=gates)


def make_source(root: Path, file: Candidate, command: WorkerCommand, problems: FileProblems) -> SuiteSource:
    """The source of a suite; `problems` are the known ones."""
    suite, path = command.suite, root / command.path
    name = suite_name(suite.testset.name, path)
    needs = problems.none_of(lambda: check_suite(suite, path, open_store(root), shown=command.path))
    if needs is None or problems.messages:
        return make_broken_source(file, problems.messages, (name,))
    options = {"file": file.path, "line": command.line, "path": command.path, "name": name}
    return SuiteSource(
        file.path,
        SourceKind.TESTSET,
        command.line,
        (name,),
        why=f"{file.why}, has a table [testset]" if command.document is None else file.why,
        argv=(*_WORKER, json.dumps(options | ({"document": command.document} if command.document else {}))),
        needs=needs.needs,
        gates=command.gates,
        uses_host_python=needs.uses_host_python,
        import_folders=locate_import_folders(root, file.path),
    )


def make_broken_source(
    file: Candidate, problems: Iterable[str], suite_ids: tuple[str, ...] | None = None
) -> SuiteSource:
    """The source of a suite that can't be run."""
    return SuiteSource(file.path, SourceKind.TESTSET, suite_ids=suite_ids, why=file.why, error="; ".join(problems))


def read_gates(text: str, *, shown: str) -> SuiteGates | None:
    """The gates in a file; None if it has none, or is not valid TOML.

    Raises:
        StoreError: the problems in it, each with its line.
    """

    def place(keys: tuple[str, ...]) -> str:
        return f"{shown}:{find_line(text, (_GATES, *keys))}"

    try:
        gates = tomllib.loads(text).get(_GATES)
    except ValueError:
        return None
    if not isinstance(gates, Mapping) or not gates:
        return None
    try:
        table = SuiteSettings.model_validate(gates)
    except ValidationError as error:
        problems = []
        for problem in error.errors(include_url=False):
            keys = tuple(map(str, problem["loc"]))
            problems.append(f"{place(keys)}: {describe_problem((_GATES, *keys), problem, SuiteSettings.model_fields)}")
        raise StoreError("\n".join(problems)) from None
    return SuiteGates(table, {keys: place(keys) for keys in _key_paths(gates)})


def _key_paths(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in table.items():
        keys = (*above, name)
        yield from _key_paths(value, keys) if isinstance(value, Mapping) else (keys,)


def check_suite(suite: SuiteFile, path: Path, store: Store, *, shown: str) -> SuiteNeeds:
    """What a suite needs to run.

    Raises:
        StoreError: everything that it names and that does not exist.
    """
    problems: list[str] = []

    def resolve(find: Callable[[], T], key: str) -> T | None:
        try:
            return find()
        except StoreError as error:
            advice = f" ({error.advice})" if error.advice else ""
            place = f"{shown}:{find_line(suite.text, ('testset', key))}" if suite.text else shown
            problems.append(f"{place}: {error.message}{advice}")
            return None

    named = suite.testset.set
    resolve(
        lambda: find_tests_file(suite, path) if named is None else resolve_test_set_id(named, store),
        "set" if named else "tests",
    )
    endpoint = resolve(lambda: load_endpoint(suite, path, store), "endpoint")
    if problems or endpoint is None:
        raise StoreError("\n".join(problems))  # without an endpoint, the needs can't be known
    needs = tuple(dict.fromkeys(find_references(endpoint.model_dump())))
    try:
        metrics = (*suite.metrics, *list_documents(store, METRICS))  # behaviors may use any metric of the store
    except StoreError:
        return SuiteNeeds(needs, uses_host_python=False)
    # The command of an MCP server may be code of the project, and the image of the action lacks the package mcp.
    is_foreign = endpoint.connection_type not in ("SDK", "MCP")
    return SuiteNeeds(needs, is_foreign and all(metric.use is None for metric in metrics))
