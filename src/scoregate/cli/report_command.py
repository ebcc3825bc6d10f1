"""`scoregate report`: write a finished run in any format."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from scoregate.cli.options import output_options, project_root, stored_baseline_option
from scoregate.cli.output import OutputOptions, build_outcome_view, open_output, print_result, write_document
from scoregate.cli.recovery import recover_runs
from scoregate.cli.stored_runs import Change, find_stored_sides, load_suite_settings
from scoregate.errors import UsageError
from scoregate.features.steps import load_steps
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.job.reports import ON_REQUEST, REPORTS, load_renderer
from scoregate.kernel.judge.archive import RUN_FOLDER, latest_run
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.judgement import Baseline

_CONSOLE = "console"
FORMATS = (*REPORTS, *ON_REQUEST, _CONSOLE)


@click.command("report")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help=f"Output format; default: {_CONSOLE}, or json with --json."
)
@stored_baseline_option
@click.option(
    "--recover",
    "recovers",
    is_flag=True,
    help="First recover the results of a killed run; they are stored below `interrupted`.",
)
@output_options
def command(
    run: Path | None, baseline: Path | Baseline | None, form: str | None, options: OutputOptions, *, recovers: bool
) -> int:
    """Write RUN to stdout in one of the report formats; -q and -v apply to the console format.

    Default for RUN: the last run of the project, in the folder of the setting `out`.
    """
    if options.json and form not in (None, "json"):
        raise UsageError(f"--json and --format {form} exclude each other", advice="Use only one of them.")
    form = "json" if options.json else form or _CONSOLE
    root = project_root()
    settings = load_suite_settings(root, {})
    run = run or root / settings.out
    if recovers:
        out = run.parent if run.resolve().name == RUN_FOLDER else run
        recovered = recover_runs(out, settings)
        for each in recovered:
            click.echo(each.notice, err=True)
        if not recovered:
            click.echo(f"{out}: nothing to recover", err=True)
    outcome = judge(find_stored_sides(latest_run(run), root, settings, Change(baseline, keeps_limits=True)), load_steps)
    if form == _CONSOLE:
        with open_output(options) as output:
            print_result(outcome, None, output)
        return 0
    document = load_renderer(form)(build_outcome_view(outcome))
    write_document(Redactor(secret_values(os.environ)).stream(document), sys.stdout)
    return 0
