"""What the host reads in the file of a suite: limits, the variables that it refers to, whether all is there."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from scoregate.ci.plan import Gates
from scoregate.ci.settings import SuiteSettings
from scoregate.ci.settings.problems import said
from scoregate.errors import StoreError
from scoregate.store import METRICS, Store, StoredEndpoint
from scoregate.store.heads import heads
from scoregate.store.references import references
from scoregate.store.suite_files import SuiteFile, endpoint_of, file_of_tests, set_called
from scoregate.store.toml_lines import line_of

_GATES = "gates"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Document:
    """`needs` are the variables that its endpoint refers to; `apart`: it names no Python of the project's."""

    needs: tuple[str, ...]
    apart: bool


def gates_of(text: str, *, shown: str) -> Gates | None:
    """What a file sets for its suite; None where that is nothing, or where it is no TOML.

    Raises:
        StoreError: all that is wrong there, each with its line.
    """

    def place(keys: tuple[str, ...]) -> str:
        return f"{shown}:{line_of(text, (_GATES, *keys))}"

    gates = _gates(text)
    try:
        table = SuiteSettings.model_validate(gates)
    except ValidationError as error:
        raise StoreError("\n".join(_wrong(error, place))) from None
    return Gates(table, {keys: place(keys) for keys in _leaves(gates)}) if gates else None


def _gates(text: str) -> Mapping[str, Any]:
    try:
        gates = tomllib.loads(text).get(_GATES, {})
    except ValueError:
        return {}
    return gates if isinstance(gates, Mapping) else {}


def _wrong(error: ValidationError, place: Callable[[tuple[str, ...]], str]) -> Iterator[str]:
    for found in error.errors(include_url=False):
        keys = tuple(map(str, found["loc"]))
        yield f"{place(keys)}: {said((_GATES, *keys), found, SuiteSettings.model_fields)}"


def _leaves(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in table.items():
        keys = (*above, name)
        yield from _leaves(value, keys) if isinstance(value, Mapping) else (keys,)


def checked(suite: SuiteFile, path: Path, store: Store, *, shown: str) -> Document:
    """What it takes to run it.

    Raises:
        StoreError: all that it names and that is not there.
    """
    problems: list[str] = []

    def there(find: Callable[[], _T], key: str) -> _T | None:
        try:
            return find()
        except StoreError as error:
            advice = f" ({error.advice})" if error.advice else ""
            place = f"{shown}:{line_of(suite.text, ('testset', key))}" if suite.text else shown
            problems.append(f"{place}: {error.message}{advice}")
            return None

    named = suite.testset.set
    there(
        lambda: file_of_tests(suite, path) if named is None else set_called(named, store), "set" if named else "tests"
    )
    endpoint = there(lambda: endpoint_of(suite, path, store), "endpoint")
    if problems or endpoint is None:
        raise StoreError("\n".join(problems))
    needs = tuple(dict.fromkeys(references(endpoint.model_dump())))
    return Document(needs, _is_apart(suite, endpoint, store))


def _is_apart(suite: SuiteFile, endpoint: StoredEndpoint, store: Store) -> bool:
    """Whether no Python of the project's can be of use for it: behaviors may bring any metric of the store."""
    try:
        metrics = (*suite.metrics, *heads(store, METRICS))
    except StoreError:
        return False
    return endpoint.connection_type != "SDK" and all(metric.use is None for metric in metrics)
