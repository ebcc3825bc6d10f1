"""How a run was called, for commands that repeat a part of it: `scoregate exec`, and limits of this one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from scoregate.errors import RecordError
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.command_fields import Command, RowSettings
from scoregate.kernel.judge.settings.limit_fields import LimitFields
from scoregate.kernel.judge.settings.sources import COMMAND_LINE
from scoregate.kernel.types.runs.policy import list_one_run_limits
from scoregate.kernel.types.runs.run_scope import ExecCall


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


def with_one_run_limits(settings: Settings, policy: Mapping[str, Any]) -> Settings:
    """The settings with the limits that were set for one run alone: the project's file doesn't have them.

    Args:
        settings: the settings of the project.
        policy: the policy in the record of the run.

    Raises:
        RecordError: a limit in the record is not valid.
    """
    one_run_limits = [each for each in list_one_run_limits(policy) if each.name in LimitFields.model_fields]
    try:
        limits = LimitFields.model_validate({each.name: each.value for each in one_run_limits})
    except ValidationError as error:
        raise RecordError(f"the limits in the record of the run are not valid: {error!s:.500}") from None
    values = {each.name: getattr(limits, each.name) for each in one_run_limits}
    origins = {tuple(filter(None, (each.name, each.path))): each.place for each in one_run_limits}
    return settings.model_copy(update={**values, "origins": {**settings.origins, **origins}})
