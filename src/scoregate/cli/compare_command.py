"""`scoregate compare`: compare two finished runs."""

from __future__ import annotations

from pathlib import Path

import click

from scoregate.ci.archive import latest_run
from scoregate.cli.options import output_options, project_root
from scoregate.cli.output import OutputOptions, open_output, print_result
from scoregate.cli.stored_runs import load_suite_settings, rejudge_run


@click.command("compare")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--baseline", type=click.Path(path_type=Path), required=True, metavar="RUN", help="Baseline run to compare with."
)
@output_options
def command(run: Path | None, baseline: Path, options: OutputOptions) -> int:
    """Show how every score of RUN changed from another run. The exit code is 0, whatever changed.

    Default for RUN: the last run of the project, in the folder of the setting `out`.
    """
    with open_output(options) as output:
        root = project_root()
        settings = load_suite_settings(root, {})
        outcome = rejudge_run(latest_run(run or root / settings.out), baseline, settings)
        print_result(outcome, None, output)
    return 0
