"""`scoregate gate`: apply the gates to a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from scoregate.ci.archive import latest_run
from scoregate.cli.options import gate_options, output_options, project_root
from scoregate.cli.output import OutputOptions, open_output, print_result
from scoregate.cli.stored_runs import load_suite_settings, rejudge_run


@click.command("gate")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Baseline run; default: the one that RUN was compared with.",
)
@gate_options
@output_options
def command(run: Path, baseline: Path | None, options: OutputOptions, **flags: Any) -> int:
    """Apply the gates of the current settings to RUN. Nothing is run.

    If the last run in that folder was killed, its results so far are judged as an incomplete run.
    """
    with open_output(options) as output:
        root = project_root()
        outcome = rejudge_run(latest_run(run), baseline, load_suite_settings(root, flags), root=root)
        print_result(outcome, None, output, named=str(run))
    return outcome.verdict.exit_code
