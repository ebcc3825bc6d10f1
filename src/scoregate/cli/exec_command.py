"""`scoregate exec`: one command, whatever it is written in, as the only source of suites."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from scoregate.ci.discover.commands import find_commands
from scoregate.ci.report.text import name
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.ci.settings.commands import imported
from scoregate.cli.options import (
    baseline_options,
    gate_options,
    judging_settings_of,
    model_options,
    out_option,
    project_root,
    publish_options,
    running_options,
    suite_option,
    voice_options,
    working_directory_option,
)
from scoregate.cli.story import tell_story
from scoregate.cli.voice import Voice
from scoregate.errors import UsageError

_LONGEST_NAME = 100


@click.command("exec", context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, metavar="-- COMMAND...", type=click.UNPROCESSED)
@working_directory_option
@suite_option
@click.option("--junit", multiple=True, metavar="FILE", help="A JUnit report that COMMAND writes; repeatable.")
@click.option(
    "--import",
    "imports",
    multiple=True,
    metavar="FORMAT:FILE",
    help="Results that COMMAND writes: promptfoo, inspect, deepeval or pydantic-evals; repeatable.",
)
@baseline_options
@out_option
@running_options
@model_options
@gate_options
@publish_options
@voice_options
def command(
    words: tuple[str, ...], junit: tuple[str, ...], imports: tuple[str, ...], voice: Voice, **flags: Any
) -> int:
    """Run COMMAND here, record the suites that it runs, compare them with a base, judge, and write reports.

    Suites of Autoblocks' SDKs report by themselves, unchanged, as do those of scoregate; what other frameworks write
    is read from their files.
    """
    _check(words, imports)
    root = project_root(flags)
    ran = {**_command(words, root, environ=os.environ), "junit": junit, "imports": imports}
    return tell_story(judging_settings_of(root, {**flags, "commands": [ran]}), root, voice, find=find_commands)


def _check(words: Sequence[str], imports: tuple[str, ...]) -> None:
    """Raise what can be known of a command before it runs.

    Raises:
        UsageError: there is none, it is a line for a shell, or what it leaves behind is of no known format.
    """
    try:
        imported(imports)
    except ValueError as error:
        raise UsageError(f"--import: {error}") from None
    if not words or not words[0].strip():
        raise UsageError(
            "exec was given no command", advice="Write it after two dashes: scoregate exec -- npx tsx run.ts"
        )
    if len(words) == 1 and len(words[0].split()) > 1 and shutil.which(words[0]) is None:
        raise UsageError(
            f"exec was given one word that holds spaces: {words[0]!r:.200}",
            advice="Write its words apart, without quotes around them all: scoregate exec -- npx tsx run.ts\n"
            f"For what needs a shell: scoregate exec -- sh -c {shlex.quote(words[0])[:200]}",
        )


def _command(words: Sequence[str], root: Path, *, environ: Mapping[str, str]) -> dict[str, object]:
    """It runs where the user stands, and is called by its words; a program's path says more of this machine."""
    said = Redactor(secret_values(environ)).text(shlex.join((Path(words[0]).name, *words[1:])))
    return {"name": name(said, _LONGEST_NAME), "run": words, "cwd": os.path.relpath(Path.cwd(), root)}
