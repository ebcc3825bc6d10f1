"""How a run was started, for commands that repeat a part of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import field

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import OneRunLimit, list_one_run_limits
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.run_scope import ExecCall


@record
class RunStart:
    """How a run was started.

    Attributes:
        files: the file that `scoregate run` takes for a suite, by the suite's index; suites of commands have none.
        named: the files of the run, if the user named them: other commands may not find them.
        exec_call: the call of `scoregate exec`; None for `scoregate run`.
        limits: the variables that set the limits of this one run again, by where these were set: `--max-drop`.
    """

    files: Mapping[int, str] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    exec_call: ExecCall | None = None
    limits: Mapping[str, str] = field(default_factory=dict)


def describe_start(run: Run) -> RunStart:
    """How a run was started."""
    limits = {each.place: _format_variable(each) for each in list_one_run_limits(run.policy)}
    if run.scope.exec_call is not None:
        return RunStart(exec_call=run.scope.exec_call, limits=limits)
    commands = set(_list_command_names(run.settings or {}))
    files = {script.name: _get_path(script.name) for script in run.scripts if script.name not in commands}
    # The second process of a file, `evals/a.py #2`, has the same words as the first.
    known = {name: path for name, path in files.items() if _is_file(path, run)}
    by_suite = {index: known[each.script] for index, each in enumerate(run.suites) if each.script in known}
    return RunStart(by_suite, tuple(dict.fromkeys(known.values())) if run.scope.narrowed else (), limits=limits)


def _format_variable(limit: OneRunLimit) -> str:
    """The variable that sets a limit, as a shell writes it."""
    return f"SCOREGATE_{limit.name.upper()}={shlex.quote(json.dumps(limit.value))}"


def _list_command_names(settings: Mapping[str, object]) -> Iterator[str]:
    tables = settings.get("commands")
    for table in tables if isinstance(tables, list) else ():
        if isinstance(table, Mapping):
            yield str(table.get("name"))


def _get_path(name: str) -> str:
    path, sign, number = name.rpartition(" #")
    return path if sign and number.isdecimal() else name


def _is_file(path: str, run: Run) -> bool:
    """Whether a script is a file that its command line names, or a table of test sets, and not one of the store."""
    is_table = path.endswith(".toml")
    words = (word for script in run.scripts if _get_path(script.name) == path for word in script.command)
    return any(word == path or (is_table and f'"file": {json.dumps(path)}' in word) for word in words)
