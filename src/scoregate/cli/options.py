"""Options that several commands share, and the settings that they make."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import anyio
import click

from scoregate.ci import git
from scoregate.ci.settings import Settings, load_settings, read_table

_F = TypeVar("_F", bound=Callable[..., Any])


def options(*decorators: Callable[[_F], _F]) -> Callable[[_F], _F]:
    """Several options as one decorator, shown in this order."""

    def decorate(function: _F) -> _F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


selection_options: Callable[[Any], Any] = options(
    click.argument("paths", nargs=-1, type=click.Path()),
    click.option("--suite", multiple=True, metavar="GLOB", help="Run only suites whose id matches; repeatable."),
)
baseline_option = click.option(
    "--baseline", metavar="RUN|rerun[:REF]|none", help="A run's folder, or a commit whose suites are run too."
)


def _table(_context: click.Context, _option: click.Parameter, value: str | None) -> object:
    return None if value is None else read_table(value)


gate_options: Callable[[Any], Any] = options(
    click.option("--min-pass-rate", type=float, metavar="RATE", help="Of the cases with a threshold; 0 to 1."),
    click.option(
        "--max-drop",
        callback=_table,
        metavar="DROP",
        help="Of any evaluator's mean beyond noise, or EVALUATOR=DROP,…; 0 to 1.",
    ),
    click.option(
        "--fail-on-regression", is_flag=True, default=None, help="Fail when any score got worse beyond noise."
    ),
    click.option("--max-error-rate", type=float, metavar="RATE", help="Of all cases; 0 to 1."),
)


def project_root() -> Path:
    """The top level of the repository around the working directory; outside a repository, that directory."""
    return anyio.run(git.top_level, Path.cwd()) or Path.cwd().resolve()


def settings_of(root: Path, flags: Mapping[str, Any]) -> Settings:
    """The project's settings, with what the command line gave.

    Raises:
        SettingsError: one of them cannot be used.
    """
    return load_settings(root, os.environ, flags=flags, cwd=Path.cwd())
