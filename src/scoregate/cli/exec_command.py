"""`scoregate exec`: run one command, in any language, as the only source of suites."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import click

from scoregate.cli.options import (
    baseline_options,
    gate_options,
    load_gate_settings,
    model_options,
    out_option,
    output_options,
    project_root,
    publish_options,
    running_options,
    suite_option,
    working_directory_option,
)
from scoregate.cli.output import OutputOptions
from scoregate.cli.run_gate import run_project
from scoregate.cli.skipped_run import end_if_skipped
from scoregate.errors import UsageError
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.judge.settings.tables import RowSettings, check_imports
from scoregate.kernel.report.text import display_name
from scoregate.kernel.run.discover.settings_sources import find_commands

_LONGEST_NAME = 100


@click.command("exec", context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, metavar="-- COMMAND...", type=click.UNPROCESSED)
@working_directory_option
@suite_option
@click.option("--junit", multiple=True, metavar="FILE", help="JUnit report that COMMAND writes (repeatable).")
@click.option(
    "--junit-scores",
    multiple=True,
    metavar="GLOB",
    help="Numeric properties in JUnit reports that are scores, besides score.NAME (repeatable).",
)
@click.option(
    "--import",
    "imports",
    multiple=True,
    metavar="FORMAT:FILE",
    help="Results that COMMAND writes, such as promptfoo:out.json or rows:scores.csv (repeatable).",
)
@click.option(
    "--rows",
    "columns",
    multiple=True,
    metavar="KEY=COLUMN",
    help="Columns of imported rows, such as scores=faith* or input=question (repeatable).",
)
@baseline_options
@out_option
@running_options
@model_options
@gate_options
@publish_options
@output_options
def command(
    words: tuple[str, ...],
    junit: tuple[str, ...],
    junit_scores: tuple[str, ...],
    imports: tuple[str, ...],
    columns: tuple[str, ...],
    options: OutputOptions,
    **flags: Any,
) -> int:
    """Run COMMAND here, record its suites, compare them with a baseline, apply the gates and write reports.

    Suites of scoregate and of Autoblocks' SDKs report by themselves, without changes. Results of other frameworks are
    read from their files.
    """
    try:
        check_imports(imports)
    except ValueError as error:
        raise UsageError(f"--import: {error}") from None
    if not words or not words[0].strip():
        raise UsageError("no command was given", advice="Write it after two dashes: scoregate exec -- npx tsx run.ts")
    if len(words) == 1 and len(words[0].split()) > 1 and shutil.which(words[0]) is None:
        raise UsageError(
            f"the command is one argument with spaces: {words[0]!r:.200}",
            advice="Pass program and arguments separately, without quotes: scoregate exec -- npx tsx run.ts\n"
            f"If you need a shell: scoregate exec -- sh -c {shlex.quote(words[0])[:200]}",
        )
    root = project_root(flags)
    # The name is the command line without secrets and without the path of its program.
    line = Redactor(secret_values(os.environ)).text(shlex.join((Path(words[0]).name, *words[1:])))
    source = {
        "name": display_name(line, _LONGEST_NAME),
        "run": words,
        "cwd": os.path.relpath(Path.cwd(), root),
        "junit": junit,
        "junit_scores": junit_scores,
        "imports": imports,
        "rows": _parse_columns(columns),
    }
    settings = load_gate_settings(root, {**flags, "commands": [source]})
    return 0 if end_if_skipped(root, settings) else run_project(settings, root, options, find=find_commands)


def _parse_columns(columns: tuple[str, ...]) -> dict[str, Any] | None:
    """The table of `--rows`: keys that are lists collect their columns.

    Raises:
        UsageError: one has another form, or an unknown key.
    """
    table: dict[str, Any] = {}
    for each in columns:
        key, _, column = each.partition("=")
        if key not in RowSettings.model_fields or not column:
            names = ", ".join(RowSettings.model_fields)
            raise UsageError(f"--rows: {each!r:.100} must be KEY=COLUMN, where KEY is one of {names}")
        if key in ("scores", "input"):
            table.setdefault(key, []).append(column)
        else:
            table[key] = column
    return table or None
