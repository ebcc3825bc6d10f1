"""`scoregate gate`: apply the gates to a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from scoregate.cli.options import gate_options, output_options, project_root, stored_baseline_option
from scoregate.cli.output import OutputOptions, open_output, print_result
from scoregate.cli.stored_runs import Change, find_stored_sides, load_suite_settings
from scoregate.features.steps import load_steps
from scoregate.kernel.judge.archive import latest_run
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.judgement import Baseline


@click.command("gate")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@stored_baseline_option
@gate_options
@output_options
def command(run: Path | None, baseline: Path | Baseline | None, options: OutputOptions, **flags: Any) -> int:
    """Apply the gates of the current settings to RUN. Nothing is run.

    Default for RUN: the last run of the project, in the folder of the setting `out`. If the last run in that folder was
    killed, its results so far are judged as an incomplete run.
    """
    with open_output(options) as output:
        root = project_root()
        settings = load_suite_settings(root, flags)
        folder = latest_run(run or root / settings.out)
        outcome = judge(find_stored_sides(folder, root, settings, Change(baseline, same_scores=True)), load_steps)
        print_result(outcome, None, output, named="" if run is None else str(run))
    return outcome.verdict.exit_code
