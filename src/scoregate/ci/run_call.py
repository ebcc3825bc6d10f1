"""How a run was called, for commands that repeat a part of it: `scoregate exec`, and limits of this one run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields

from scoregate.ci.settings import Settings
from scoregate.ci.settings.command_fields import Command, RowSettings
from scoregate.ci.settings.sources import COMMAND_LINE
from scoregate.core.policy import Limits
from scoregate.core.run import ExecCall

_LIMITS = tuple(each.name for each in fields(Limits) if each.name != "origin")
# What the places of values start with that a flag, a variable or an input of the action sets.
_FOR_ONE_RUN = ("--", "SCOREGATE_", "INPUT_")


def describe_exec_call(settings: Settings, redact: Callable[[str], str]) -> ExecCall | None:
    """The call of `scoregate exec` that made these settings; None for `scoregate run`.

    Args:
        settings: the settings of the run.
        redact: removes secrets from a text.
    """
    if settings.origin("commands") != COMMAND_LINE or not settings.commands:
        return None
    command = settings.commands[0]
    return ExecCall(tuple(map(redact, _list_options(command))), tuple(map(redact, command.run)), command.cwd)


def _list_options(command: Command) -> Iterator[str]:
    """The options that say how results are read, with their values."""
    named = (("--junit", command.junit), ("--junit-scores", command.junit_scores), ("--import", command.imports))
    for option, values in named:
        for value in values:
            yield from (option, value)
    for column in _list_columns(command.rows) if command.rows is not None else ():
        yield from ("--rows", column)


def _list_columns(rows: RowSettings) -> Iterator[str]:
    for key, value in rows.model_dump(exclude_defaults=True).items():
        for each in value if isinstance(value, tuple) else (value,):
            yield f"{key}={str(each).lower() if isinstance(each, bool) else each}"


def list_limits_of_run(settings: Settings) -> dict[str, str]:
    """Where limits were set for this one run, each with the variable that sets them again, as a shell writes it."""
    found = {}
    for keys, place in settings.origins.items():
        if keys[0] in _LIMITS and place.startswith(_FOR_ONE_RUN):
            value = getattr(settings, keys[0])
            text = json.dumps(dict(value) if isinstance(value, Mapping) else value, default=str)
            found[place] = f"SCOREGATE_{keys[0].upper()}={shlex.quote(text)}"
    return found
