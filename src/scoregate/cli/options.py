"""Options that several commands share, and the settings that they make."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import anyio
import click

from scoregate.ci import git
from scoregate.ci.base_settings import judging_settings
from scoregate.ci.settings import (
    CommentMode,
    PolicySource,
    Settings,
    ShowOutputs,
    environment_value,
    load_settings,
    read_table,
)
from scoregate.cli.voice import Voice
from scoregate.errors import SettingsError, UsageError

_F = TypeVar("_F", bound=Callable[..., Any])


def options(*decorators: Callable[[_F], _F]) -> Callable[[_F], _F]:
    """Several options as one decorator, shown in this order."""

    def decorate(function: _F) -> _F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


working_directory_option = click.option(
    "--working-directory", metavar="DIR", help="The project, where it is not the whole repository."
)
suite_option = click.option(
    "--suite", multiple=True, metavar="GLOB", help="Run only suites whose id matches; repeatable."
)
selection_options: Callable[[Any], Any] = options(
    click.argument("paths", nargs=-1, type=click.Path()),
    working_directory_option,
    suite_option,
    click.option("--config", multiple=True, metavar="NAME", help="Run only this test config; repeatable."),
)
baseline_options: Callable[[Any], Any] = options(
    click.option(
        "--baseline",
        metavar="RUN|auto|artifact|branch|rerun[:REF]|none",
        help="A run's folder, what a job of the base branch has stored, or a commit whose suites are run too.",
    ),
    click.option("--base-branch", metavar="NAME", help="The branch that changes go to, where nobody tells it."),
)
out_option = click.option("--out", type=click.Path(), metavar="DIR", help="Where the run and its reports go.")


def _table(_context: click.Context, _option: click.Parameter, value: str | None) -> object:
    return None if value is None else read_table(value)


running_options: Callable[[Any], Any] = options(
    click.option("--max-cases", type=int, metavar="N", help="Run only the first N cases of each suite."),
    click.option(
        "--repeats", metavar="N|auto", help="Run every case N times, or those again that a base run differs in."
    ),
    click.option("--timeout", type=float, metavar="S", help="Seconds that a script may take."),
    click.option("-m", "--message", metavar="TEXT", help="Titles the run."),
    click.option(
        "--confirm",
        type=click.Choice(["off", "critical", "all"]),
        is_flag=False,
        flag_value="critical",
        help="Run newly failing cases again before they count: those tagged critical, or all (up to 15).",
    ),
)
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
    click.option(
        "--policy-from",
        type=click.Choice([source.value for source in PolicySource]),
        help="base: judge by the settings of the base, so that a change cannot loosen its own gate.",
    ),
)


model_options: Callable[[Any], Any] = options(
    click.option("--model", metavar="NAME", help="Replaces the default of everything that asks a model."),
    click.option(
        "--cache",
        metavar="DIR|off|readonly|refresh",
        help="Where answers of models are kept, or what is done with them.",
    ),
    click.option("--max-cost", type=float, metavar="USD", help="Stop asking models before the run costs more."),
    click.option("--max-tokens", type=float, metavar="N", help="Stop asking models before the run takes more."),
)
publish_options: Callable[[Any], Any] = options(
    click.option(
        "--comment",
        type=click.Choice([mode.value for mode in CommentMode]),
        help="When a pull request gets a comment: always, on changes, on failures, or never.",
    ),
    click.option(
        "--show-outputs",
        type=click.Choice([mode.value for mode in ShowOutputs]),
        help="none: keep and publish no output of a model.",
    ),
    click.option("--annotations/--no-annotations", default=None, help="Findings at the lines of their suites."),
    click.option("--check-run/--no-check-run", default=None, help="A check of its own on the head commit."),
    click.option("--key", metavar="NAME", help="Tells uses in one repository apart; default: workflow and job."),
    click.option("--github-token", metavar="TOKEN", help="Better given as GITHUB_TOKEN in the environment."),
)

_speaking: Callable[[Callable[..., Any]], Callable[..., Any]] = options(
    click.option("-q", "--quiet", is_flag=True, help="Only what failed, and the verdict."),
    click.option(
        "-v", "--verbose", is_flag=True, help="Everything: each case, all failures, whole reasons and errors."
    ),
    click.option(
        "--json", "as_json", is_flag=True, help="The result as JSON on standard output; people read standard error."
    ),
)


def voice_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Flags of the terminal, not of the project, which the command gets as `voice`.

    Raises:
        UsageError: they contradict each other.
    """

    @functools.wraps(function)
    def command(*args: Any, quiet: bool, verbose: bool, as_json: bool, **flags: Any) -> Any:
        if quiet and verbose:
            raise UsageError("--quiet and --verbose contradict each other", advice="Give one of them.")
        return function(*args, voice=Voice(quiet, verbose, as_json), **flags)

    return _speaking(command)


# Of the commands that compare, judge and publish what was run elsewhere.
judging_options: Callable[[Any], Any] = options(
    working_directory_option, baseline_options, out_option, gate_options, publish_options
)


def project_root(flags: Mapping[str, Any] = MappingProxyType({})) -> Path:
    """The folder that `working_directory` names, else the top level of the repository around us, else where we are.

    Args:
        flags: what the command line gave.

    Raises:
        SettingsError: there is no folder of that name.
    """
    if (named := _named_root(flags)) is None:
        return anyio.run(git.top_level, Path.cwd()) or Path.cwd().resolve()
    name, origin = named
    if not (root := Path(name).resolve()).is_dir():
        raise SettingsError(f"{origin}: {name!r:.200} is no folder of {Path.cwd()}")
    return root


def _named_root(flags: Mapping[str, Any]) -> tuple[str, str] | None:
    if flag := flags.get("working_directory"):
        return flag, "--working-directory"
    return environment_value("working_directory", os.environ)


def settings_of(root: Path, flags: Mapping[str, Any]) -> Settings:
    """The project's settings, with what the command line gave.

    Paths in flags and in the environment are relative to the root where it was named, else to where we are.

    Raises:
        SettingsError: one of them cannot be used.
    """
    return load_settings(root, os.environ, flags=flags, cwd=_working_folder(root, flags))


def judging_settings_of(root: Path, flags: Mapping[str, Any]) -> Settings:
    """As `settings_of`, but with `policy_from = "base"` those of the base, which judge a change.

    Raises:
        SettingsError: the project's own cannot be used.
    """
    return anyio.run(partial(judging_settings, root, os.environ, flags, cwd=_working_folder(root, flags)))


def _working_folder(root: Path, flags: Mapping[str, Any]) -> Path:
    return root if _named_root(flags) else Path.cwd()
