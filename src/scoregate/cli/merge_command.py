"""`scoregate merge`: gate and report several runs as one."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from scoregate.cli.options import output_options, project_root, report_options
from scoregate.cli.output import OutputOptions, open_output, print_result
from scoregate.cli.output_folder import lock_output
from scoregate.cli.skipped_run import end_if_skipped
from scoregate.cli.stored_runs import load_gate_suite_settings
from scoregate.features.drift.declare import DRIFT_CONTROL
from scoregate.features.steps import load_steps
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.job.job import open_job_context
from scoregate.kernel.job.pipeline import gate_finished_run
from scoregate.kernel.job.reporting import build_reporting
from scoregate.kernel.job.shards.merge_runs import merge_matrix_runs, read_matrix_runs
from scoregate.kernel.job.shards.merge_shards import check_with_baseline, find_shards, merge_shards
from scoregate.kernel.job.steps import Outcome
from scoregate.kernel.judge.archive import RUN_FILE, RUN_FOLDER, amend_run
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.runs.run import Run

_NO_CONTROL = "Merged runs of a matrix have no drift control, so no change is corrected for drift."


@click.command("merge")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--expect",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of runs to expect. If one is missing, the exit code is 3.",
)
@click.option("-m", "--message", metavar="TEXT", help="Title of the run.")
@report_options
@output_options
def command(runs: tuple[Path, ...], expect: int | None, options: OutputOptions, **flags: Any) -> int:
    """Merge RUNS, such as those of matrix jobs, compare them with a baseline, apply the gates and report once.

    Suites with the same id are distinguished by the folder names of their runs. The runs of shards become the run that
    one machine would have made; a missing shard makes it unmeasurable (exit code 3).
    """
    root = project_root(flags)
    settings = load_gate_suite_settings(root, flags)
    if settings.message is not None:
        settings = settings.model_copy(update={"message": Redactor(secret_values(os.environ)).text(settings.message)})
    folders: list[Path] = []
    for path in runs:
        # No shell expands the patterns in the inputs of an action.
        is_pattern = "*" in str(path) and not path.is_absolute()
        folders += sorted(Path().glob(str(path))) if is_pattern else [path]
    # Where a label skipped all jobs, there is nothing to judge. A run that is there is judged in any case.
    has_runs = any(run_path.exists() for each in folders for run_path in (each / RUN_FOLDER, each / RUN_FILE))
    if not has_runs and end_if_skipped(root, settings):
        return 0
    with lock_output(root / settings.out, root):
        base, is_sharded, target = "", False, root / settings.out / RUN_FOLDER
        if shards := find_shards(folders):
            run = merge_shards(shards, target, settings, load=load_steps)
            base, is_sharded = next((each.shard.base for each in shards if each.shard.base), ""), True
        else:
            matrix = read_matrix_runs(folders, expected=expect)
            run = merge_matrix_runs(matrix, target, settings, expected=expect)
            if DRIFT_CONTROL.of(settings):
                run = run.add_notices(_NO_CONTROL)
        with open_output(options) as output:
            outcome = anyio.run(_judge, run, settings, root, base, is_sharded)
            print_result(outcome, root / settings.out, output)
    return outcome.exit_code


async def _judge(run: Run, settings: Settings, root: Path, base: str, is_sharded: bool) -> Outcome:
    async with open_job_context(root, os.environ, settings) as context:
        amend = partial(amend_run, context.out / RUN_FOLDER)
        check = partial(check_with_baseline, base, load_steps, amend) if is_sharded else lambda sides: sides.run
        return await gate_finished_run(
            run, settings, build_reporting(context, load_steps), load_steps, amend=amend, check=check
        )
