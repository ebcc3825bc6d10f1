"""`scoregate run`: the whole story."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import click
from rich.console import Console

from scoregate.ci.flow import Outcome, gate
from scoregate.ci.settings import Settings
from scoregate.ci.wiring import open_ports
from scoregate.cli.closing import close
from scoregate.cli.options import (
    baseline_options,
    gate_options,
    model_options,
    out_option,
    project_root,
    publish_options,
    selection_options,
    settings_of,
)
from scoregate.cli.progress import printed, progress
from scoregate.cli.scratch import scratch_folder
from scoregate.cli.stopping import stoppable
from scoregate.cli.terminal import terminal


@click.command("run")
@selection_options
@baseline_options
@out_option
@click.option("--max-suites", type=int, metavar="N", help="How many scripts run at a time; default: cores.")
@click.option("--max-cases", type=int, metavar="N", help="Run only the first N cases of each suite.")
@click.option("--repeats", metavar="N|auto", help="Run every case N times, or those again that a base run differs in.")
@click.option("--timeout", type=float, metavar="S", help="Seconds that a script may take.")
@click.option("-m", "--message", metavar="TEXT", help="Titles the run.")
@click.option("--python", metavar="PATH", help="The interpreter that runs the suites.")
@click.option("--python-version", metavar="X.Y", help="Of the environment that --install makes.")
@click.option(
    "--install",
    metavar="auto|uv-sync|requirements|none|COMMAND",
    help="Make an environment for the suites; auto does so in the action only, from what the project has.",
)
@click.option(
    "--confirm",
    type=click.Choice(["off", "critical", "all"]),
    is_flag=False,
    flag_value="critical",
    help="Run newly failing cases again before they count: those tagged critical, or all (up to 15).",
)
@model_options
@gate_options
@publish_options
def command(**flags: Any) -> int:
    """Run the suites under PATHS, compare them with a base, judge, and write reports.

    Without PATHS: the folder evals/, and eval_*.py, *_eval.py and *.eval.py anywhere that git does not ignore.
    """
    root = project_root(flags)
    settings = settings_of(root, flags)
    console = terminal()
    outcome = anyio.run(_gate, settings, root, console)
    close(outcome, root / settings.out, console)
    return outcome.exit_code


async def _gate(settings: Settings, root: Path, console: Console) -> Outcome:
    with scratch_folder() as scratch, progress(console) as observer:
        async with (
            stoppable() as stop,
            open_ports(
                root,
                os.environ,
                settings,
                scratch=scratch,
                observers=[observer],
                say=lambda line: console.print(printed(line)),
                stop=stop,
            ) as ports,
        ):
            return await gate(settings, ports)
