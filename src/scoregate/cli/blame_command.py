"""`scoregate blame`: which part of a change made cases fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import click
from pydantic_core import to_jsonable_python

from scoregate.cli.options import load_gate_settings, model_options, out_option, project_root, running_options
from scoregate.cli.output_folder import lock_output
from scoregate.cli.quiet_ports import UNMEASURABLE, open_quiet_ports
from scoregate.cli.run_gate import temporary_folder
from scoregate.cli.stored_runs import Change, find_stored_sides
from scoregate.cli.text_output import print_line
from scoregate.features.interventions.cause.explanation import Explanation, explain_drop
from scoregate.features.interventions.cause.section import describe_explanation, describe_trials
from scoregate.features.interventions.edited_trees.edited_runs import plan_suites
from scoregate.features.steps import load_steps
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.settings import Settings

_FOLDER = "blame"


@click.command("blame")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("--baseline", type=click.Path(path_type=Path), metavar="RUN", help="Default: what RUN was compared with.")
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run at most N trials; default: three times the cases of their suites, or 200.",
)
@running_options
@model_options
@out_option
@click.option("--json", "json_", is_flag=True, help="Print the result as JSON.")
def command(run: Path | None, baseline: Path | None, *, trials: int | None, json_: bool, **flags: Any) -> int:
    """Find which part of the change since the baseline made cases of RUN fail: by default, of the last run.

    Files and hunks of the change are reverted in copies of the work tree, and the cases that fell run again until the
    trials say which hunks it is. The files of the work tree don't change.
    """
    root = project_root(flags)
    settings = load_gate_settings(root, flags)
    comparison = judge(
        find_stored_sides(run or root / settings.out, root, settings, Change(baseline)), load_steps
    ).comparison
    settings = settings.model_copy(update={"out": f"{settings.out}/{_FOLDER}"})
    with lock_output(root / settings.out, root):
        found = anyio.run(_explain, root, settings, comparison, trials)
    if json_:
        click.echo(json.dumps(to_jsonable_python(found), indent=2))  # in ASCII: names may hold terminal sequences
    else:
        for sentence in (*describe_explanation(found), *describe_trials(found)):
            print_line(sentence)
    return 0 if found.changes else UNMEASURABLE


async def _explain(root: Path, settings: Settings, comparison: Comparison, trials: int | None) -> Explanation:
    with temporary_folder() as scratch:
        async with open_quiet_ports(root, settings, scratch) as ports:
            settings, plan = await plan_suites(settings, ports)
            return await explain_drop(comparison, plan, settings, ports, most_trials=trials)
