"""Runs what the store holds as if it were a script of the user's: `python -m scoregate.worker config '{"name": …}'`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from scoregate.core.parts import ErrorInfo, Origin
from scoregate.engine.errors import error_info
from scoregate.engine.origin import stated
from scoregate.engine.targets import target
from scoregate.engine.unrun import tell_unrun
from scoregate.errors import JudgmentTestError, ScoregateError, SettingsError
from scoregate.store import open_store

# What an order calls the functions that `run` takes.
_FUNCTIONS = {"agent": "agent_function", "pass_condition": "pass_condition_fn"}


def main(words: Sequence[str]) -> int:
    """Carry out an order, which the host wrote as JSON: a kind of `KINDS`, and what it says of it."""
    kind, order = words
    told: dict[str, Any] = from_json(order)
    with stated(Origin(told.pop("file"), told.pop("line", 1))):
        return KINDS[kind](**told)


def run_config(*, name: str, origin: str, **order: Any) -> int:
    """Run a test config; whatever keeps it from being run is an error in its record, which is told by `origin`."""
    from scoregate.client import Client

    try:
        found = {_FUNCTIONS[key]: loaded(key, order.pop(key)) for key in _FUNCTIONS if key in order}
        Client().offline_tests.run(name, **found, **order)
    except JudgmentTestError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except TimeoutError as error:  # that is in its record
        print(error, file=sys.stderr)
    except (ScoregateError, TypeError, ValueError) as error:
        tell(name, error, origin)
    return 0


def run_test_set(*, name: str, path: str, document: Mapping[str, Any] | None = None) -> int:
    """Run a suite that is data, by the path of its file, or as a document that stands for it; whatever keeps it from
    being run is an error in its record."""
    from scoregate.entities.execution.suite_files import run_suite_file

    try:
        run_suite_file(Path(path), open_store(), document=document)
    except (ScoregateError, OSError, TypeError, ValueError) as error:
        tell(name, error, path)
    return 0


def loaded(key: str, name: str) -> Any:
    """What a setting names as "module:function".

    Raises:
        SettingsError: it is not there, or its module raises when it is imported.
    """
    try:
        found = target(name)
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        raise SettingsError(
            f"{key} = {name!r:.200} cannot be loaded: {type(error).__name__}: {error!s:.500}",
            advice="It is imported from the project's top folder, its src/, or what is installed there.",
        ) from error
    if not callable(found):
        raise SettingsError(f"{key} = {name!r:.200} is no function, but {found!r:.200}")
    return found


def tell(suite: str, error: Exception, origin: str) -> None:
    """Record that a suite could not be run, and why, as the host and the log read it."""
    info = error_info(error)
    told = ErrorInfo(info.type, f"{info.message} ({origin})", info.traceback if error.__cause__ else "", info.advice)
    print(f"{told.message}\n{told.advice}".rstrip(), file=sys.stderr)
    tell_unrun(suite, told)


KINDS: Mapping[str, Callable[..., int]] = {"config": run_config, "testset": run_test_set}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
