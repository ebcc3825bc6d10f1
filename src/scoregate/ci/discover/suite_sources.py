"""Files of TOML as suites that are data: read, checked, and how our worker is told to run them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from scoregate.ci.discover.files import Candidate
from scoregate.ci.plan import Gates, Kind, Skipped, Source
from scoregate.errors import StoreError

if TYPE_CHECKING:
    from scoregate.store.suite_files import SuiteFile

MAX_BYTES = 5 * 1024 * 1024
T = TypeVar("T")
_TABLE = "testset"
_WORKER = ("-m", "scoregate.worker", "testset")


@dataclass(slots=True)
class Problems:
    """What is wrong with a file, each with its line."""

    told: list[str] = field(default_factory=list)

    def none_of(self, read: Callable[[], T]) -> T | None:
        """What was read; None where that raised, which is kept."""
        try:
            return read()
        except StoreError as error:
            self.told.extend(error.message.splitlines())
        return None


@dataclass(frozen=True, slots=True)
class Order:
    """What a suite is: `document` stands for its file where it is not as it is there.

    `path` is that of the file from the root; what the document names is looked for in the folder of it.
    """

    path: str
    suite: SuiteFile
    line: int = 1
    document: dict[str, Any] | None = None
    gates: Gates | None = None


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
        return broken(file, [f"{file.path} cannot be read: {error.strerror}"])
    if not _is_one(text):
        return Skipped(file.path, "has no table [testset]")
    problems = Problems()
    order = read(root, file.path, text, problems)
    return broken(file, problems.told) if order is None else source_of(root, file, order, problems)


def _is_one(text: str) -> bool:
    """Whether it has the table; of what is no TOML, whether it may have been meant to."""
    if _TABLE not in text:
        return False
    try:
        return _TABLE in tomllib.loads(text)
    except ValueError:
        return f"[{_TABLE}" in text


def read(root: Path, shown: str, text: str, problems: Problems) -> Order | None:
    """A file as it stands there, whose text this is; None where it is none that can be read."""
    from scoregate.ci.discover.suite_documents import gates_of
    from scoregate.store.suite_files import read_suite_file
    from scoregate.store.toml_lines import line_of

    suite = problems.none_of(lambda: read_suite_file(root / shown, shown=shown))
    gates = problems.none_of(lambda: gates_of(text, shown=shown))
    return None if suite is None else Order(shown, suite, line_of(text, (_TABLE,)), gates=gates)


def source_of(root: Path, file: Candidate, order: Order, problems: Problems) -> Source:
    """The source of a suite; `problems` are those that are known already."""
    from scoregate.ci.discover.suite_documents import checked
    from scoregate.store import open_store
    from scoregate.store.suite_files import suite_name

    suite, path = order.suite, root / order.path
    name = suite_name(suite.testset.name, path)
    document = problems.none_of(lambda: checked(suite, path, open_store(root), shown=order.path))
    if document is None or problems.told:
        return broken(file, problems.told, (name,))
    told = {"file": file.path, "line": order.line, "path": order.path, "name": name}
    return Source(
        file.path,
        Kind.TESTSET,
        order.line,
        (name,),
        why=f"{file.why}, has a table [testset]" if order.document is None else file.why,
        argv=(*_WORKER, json.dumps(told | ({"document": order.document} if order.document else {}))),
        needs=document.needs,
        gates=order.gates,
        apart=document.apart,
    )


def broken(file: Candidate, problems: Iterable[str], suite_ids: tuple[str, ...] | None = None) -> Source:
    """The source of what cannot be run, and why."""
    return Source(file.path, Kind.TESTSET, suite_ids=suite_ids, why=file.why, error="; ".join(problems))
