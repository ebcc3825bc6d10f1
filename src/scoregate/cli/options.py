"""Options that several commands share, and the settings they produce."""

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

from scoregate.cli.output import OutputOptions
from scoregate.errors import SettingsError, UsageError
from scoregate.kernel.host import git
from scoregate.kernel.job.base_settings import load_judging_settings
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import (
    BaselineKind,
    CommentMode,
    PolicySource,
    Settings,
    ShowOutputs,
    environment_value,
    load_settings,
    parse_table,
)
from scoregate.kernel.judge.settings.limit_fields import FEATURE_SETTINGS, LIMITS
from scoregate.kernel.types.declarations.declaration import Declared, Option, OptionGroup, Setting

_F = TypeVar("_F", bound=Callable[..., Any])


def combine_options(*decorators: Callable[[_F], _F]) -> Callable[[_F], _F]:
    """Combine options into one decorator; the help shows them in this order."""

    def decorate(function: _F) -> _F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _name_stored_baseline(name: str | None) -> Path | Baseline | None:
    return Baseline(None) if name == BaselineKind.NONE else None if name is None else Path(name)


def _check_config_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of test configs.

    Raises:
        UsageError: one is a settings file, as --config has in other programs.
    """
    if files := [name for name in names if name.endswith(".toml")]:
        raise UsageError(
            f"--config {files[0]:.200}: --config names test configs, not a settings file",
            advice="scoregate.toml is read without an option, in the top folder of the repository or in "
            "--working-directory DIR.",
        )
    return names


def list_declared_options(group: OptionGroup) -> list[Callable[[Any], Any]]:
    """The options of a group that limits and settings of features declare."""
    every: tuple[Declared, ...] = (*LIMITS, *FEATURE_SETTINGS)
    declared = ((each, each.option) for each in every)
    return [_make_option(each, option) for each, option in declared if option is not None and option.group == group]


def _make_option(declared: Declared, option: Option) -> Callable[[Any], Any]:
    names, kind = [f"--{declared.name.replace('_', '-')}"], declared.kind
    form: dict[str, Any] = {"metavar": option.metavar, "help": option.help}
    if kind.choices is not None:
        form |= {"type": click.Choice([each.value for each in kind.choices])}
    elif kind.name == "bool":
        form |= {"is_flag": True, "default": None}
        names = ["/--no-".join((names[0], names[0].removeprefix("--")))] if isinstance(declared, Setting) else names
    elif kind.by:
        form |= {"callback": lambda _context, _option, value: None if value is None else parse_table(value)}
    elif kind.name != "Text":
        form |= {"type": int if kind.name == "NonNegativeInt" else float}
    if option.bare:
        form |= {"is_flag": False, "flag_value": option.bare}
    return click.option(*names, **form)


working_directory_option = click.option(
    "--working-directory", metavar="DIR", help="Project folder; default: the top of the repository."
)
suite_option = click.option(
    "--suite", multiple=True, metavar="GLOB", help="Run only suites whose id matches (repeatable)."
)
selection_options: Callable[[Any], Any] = combine_options(
    click.argument("paths", nargs=-1, type=click.Path()),
    working_directory_option,
    suite_option,
    click.option(
        "--config",
        multiple=True,
        callback=lambda _context, _option, names: _check_config_names(names),
        metavar="NAME",
        help="Run only this test config (repeatable).",
    ),
)
baseline_options: Callable[[Any], Any] = combine_options(
    click.option(
        "--baseline",
        metavar="RUN|auto|previous|artifact|branch|history|rerun[:REF]|none",
        help="Baseline to compare with: a folder of a run, a run that CI stored, or a commit to run as well.",
    ),
    click.option("--base-branch", metavar="NAME", help="Base branch; needed only if the CI event does not name one."),
)
stored_baseline_option = click.option(
    "--baseline",
    metavar="RUN|none",
    callback=lambda _context, _option, name: _name_stored_baseline(name),
    help="Baseline run; default: the one that RUN was compared with.",
)
out_option = click.option("--out", type=click.Path(), metavar="DIR", help="Output folder for the run and its reports.")


affected_option = click.option(
    "--affected/--all",
    "affected",
    default=None,
    help="Run only suites that the change can affect, and keep the base's results of the others.",
)
running_options: Callable[[Any], Any] = combine_options(
    click.option("--max-cases", type=int, metavar="N", help="Run only the first N cases of each suite."),
    click.option(
        "--repeats", metavar="N|auto", help="Repeat cases N times, unless their suite sets it; auto: undecided cases."
    ),
    click.option("--timeout", type=float, metavar="S", help="Time limit for each script, in seconds."),
    click.option("--env-file", type=click.Path(), metavar="FILE", help="File with variables for suites, such as .env."),
    click.option("-m", "--message", metavar="TEXT", help="Title of the run."),
    *list_declared_options("running"),
)
gate_options: Callable[[Any], Any] = combine_options(
    *list_declared_options("gate"),
    click.option(
        "--policy-from",
        type=click.Choice([source.value for source in PolicySource]),
        help="Where the gates come from; base: the base branch, so a change can't loosen its own gates.",
    ),
)


model_options: Callable[[Any], Any] = combine_options(
    click.option("--model", metavar="NAME", help="Default model for judges, metrics and simulated users."),
    click.option(
        "--cache",
        metavar="[on|off|readonly|refresh][:DIR]",
        help="Folder of the model cache, or how to use the cache.",
    ),
    *list_declared_options("model"),
    *list_declared_options("budget"),
)
publish_options: Callable[[Any], Any] = combine_options(
    click.option(
        "--comment",
        type=click.Choice([mode.value for mode in CommentMode]),
        help="When to comment on the pull request.",
    ),
    click.option(
        "--show-outputs",
        type=click.Choice([mode.value for mode in ShowOutputs]),
        help="Whether reports and records contain outputs.",
    ),
    click.option(
        "--annotations/--no-annotations", default=None, help="Annotate the lines of suites and cases with findings."
    ),
    *list_declared_options("publish"),
    click.option(
        "--key",
        metavar="NAME",
        help="Name of this comment and artifact, if scoregate runs more than once (default: workflow-job).",
    ),
    click.option("--github-token", metavar="TOKEN", help="GitHub token; prefer the environment variable GITHUB_TOKEN."),
)
approved_option = click.option(
    "--approved",
    metavar="NUMBER@SHA",
    help="Pull request and commit that `scoregate answer` approved: run exactly this commit.",
)

_output_flags: Callable[[Callable[..., Any]], Callable[..., Any]] = combine_options(
    click.option("-q", "--quiet", is_flag=True, help="Print only failures and the verdict."),
    click.option(
        "-v", "--verbose", is_flag=True, help="Print everything: each case, all failures, full reasons and errors."
    ),
    click.option(
        "--json", "as_json", is_flag=True, help="Write the result as JSON to stdout; other output goes to stderr."
    ),
)


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags of the terminal output; the command gets them as `options`.

    Raises:
        UsageError: --quiet and --verbose are both given.
    """

    @functools.wraps(function)
    def command(*args: Any, quiet: bool, verbose: bool, as_json: bool, **flags: Any) -> Any:
        if quiet and verbose:
            raise UsageError("--quiet and --verbose exclude each other", advice="Use only one of them.")
        return function(*args, options=OutputOptions(quiet, verbose, as_json), **flags)

    return _output_flags(command)


# For commands that compare, gate and publish runs that were made elsewhere.
report_options: Callable[[Any], Any] = combine_options(
    working_directory_option, baseline_options, out_option, gate_options, publish_options
)


def project_root(flags: Mapping[str, Any] = MappingProxyType({})) -> Path:
    """Find the project: `working_directory`, else the top of the git repository, else the current folder.

    Args:
        flags: values from the command line.

    Raises:
        SettingsError: the folder does not exist.
    """
    if (named := _named_root(flags)) is None:
        return anyio.run(git.top_level, Path.cwd()) or Path.cwd().resolve()
    name, origin = named
    if not (root := Path(name).resolve()).is_dir():
        raise SettingsError(f"{origin}: there is no folder {name!r:.200} in {Path.cwd()}")
    return root


def _named_root(flags: Mapping[str, Any]) -> tuple[str, str] | None:
    if flag := flags.get("working_directory"):
        return flag, "--working-directory"
    return environment_value("working_directory", os.environ)


def load_project_settings(root: Path, flags: Mapping[str, Any]) -> Settings:
    """Load the settings of the project, with values from the command line.

    Paths in flags and in the environment are relative to the root if it was given, else to the current folder.

    Raises:
        SettingsError: a setting is invalid.
    """
    return load_settings(root, os.environ, flags=flags, cwd=working_folder(root, flags))


def load_gate_settings(root: Path, flags: Mapping[str, Any]) -> Settings:
    """As `load_project_settings`, but with `policy_from = "base"` the settings of the base, which judge a change.

    Raises:
        SettingsError: a setting of the project is invalid.
    """
    return anyio.run(partial(load_judging_settings, root, os.environ, flags, cwd=working_folder(root, flags)))


def working_folder(root: Path, flags: Mapping[str, Any]) -> Path:
    """The folder that paths on the command line are relative to."""
    return root if _named_root(flags) else Path.cwd()
