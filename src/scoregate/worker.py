"""Runs test configs, test sets and arms of skills as scripts: `python -m scoregate.worker config '{"name": …}'`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from scoregate.engine.errors import make_error_info
from scoregate.engine.imports import import_target, use_origin
from scoregate.engine.run import report_failed_suite
from scoregate.errors import JudgmentTestError, ScoregateError, SettingsError
from scoregate.kernel.types.event_values import ErrorInfo, Origin
from scoregate.store import open_store

# The names of functions in a command, and the parameters of `run`.
_FUNCTION_ARGUMENTS = {"agent": "agent_function", "pass_condition": "pass_condition_fn"}


def main(arguments: Sequence[str]) -> int:
    """Run a command of the host: a key of `KINDS`, and its arguments as JSON."""
    kind, command = arguments
    options: dict[str, Any] = from_json(command)
    with use_origin(Origin(options.pop("file"), options.pop("line", 1))):
        return KINDS[kind](**options)


def run_config(*, name: str, origin: str, **options: Any) -> int:
    """Run a test config. If it cannot be run, its record contains an error with `origin`."""
    from scoregate.client import Client

    try:
        present = _FUNCTION_ARGUMENTS.keys() & options.keys()
        functions = {_FUNCTION_ARGUMENTS[key]: load_callable(key, options.pop(key)) for key in sorted(present)}
        Client().offline_tests.run(name, **functions, **options)
    except JudgmentTestError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except TimeoutError as error:  # already in the record
        print(error, file=sys.stderr)
    except (ScoregateError, TypeError, ValueError) as error:
        report_failure(name, error, origin)
    return 0


def run_test_set(*, name: str, path: str, document: Mapping[str, Any] | None = None) -> int:
    """Run a test set from a file or a document. If it cannot be run, its record contains an error."""
    from scoregate.entities.suite_files import run_suite_file

    try:
        run_suite_file(Path(path), open_store(), document=document)
    except (ScoregateError, OSError, TypeError, ValueError) as error:
        report_failure(name, error, path)
    return 0


def run_skill_arm(*, name: str, cases: str, **options: Any) -> int:
    """Run an arm of a skill or of other files for agents. If it cannot be run, its record contains an error.

    Args:
        name: the name of the suite.
        cases: the file of the cases.
        options: the other arguments of `run_arm`.
    """
    from scoregate.skills.suite import run_arm

    options.pop("content", None)  # the digest of what the arm depends on, for the host
    try:
        run_arm(name, cases=cases, **options)
    except (ScoregateError, OSError, TypeError, ValueError) as error:
        report_failure(name, error, cases)
    return 0


def load_callable(key: str, name: str) -> Any:
    """Import the function of a setting, such as "module:function".

    Raises:
        SettingsError: it does not exist, or its module raises an exception.
    """
    try:
        target = import_target(name)
    except (Exception, SystemExit) as error:  # a user module may raise anything
        raise SettingsError(
            f"{key} = {name!r:.200} cannot be loaded: {type(error).__name__}: {error!s:.500}",
            advice="It is imported from the project's top folder, its src/, or what is installed there.",
        ) from error
    if not callable(target):
        raise SettingsError(f"{key} = {name!r:.200} is not a function, but {target!r:.200}")
    return target


def report_failure(suite: str, error: Exception, origin: str) -> None:
    """Print and record the error of a suite that cannot be run."""
    info = make_error_info(error)
    failure = ErrorInfo(info.type, f"{info.message} ({origin})", info.traceback if error.__cause__ else "", info.advice)
    print(f"{failure.message}\n{failure.advice}".rstrip(), file=sys.stderr)
    report_failed_suite(suite, failure)


KINDS: Mapping[str, Callable[..., int]] = {"config": run_config, "testset": run_test_set, "arm": run_skill_arm}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
