"""`scoregate run`: the whole story."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import anyio
import click
from rich.console import Console

from scoregate.ci.flow import Outcome, gate
from scoregate.ci.settings import Settings
from scoregate.ci.wiring import build_ports
from scoregate.cli.closing import close
from scoregate.cli.options import baseline_option, gate_options, project_root, selection_options, settings_of
from scoregate.cli.progress import progress
from scoregate.cli.terminal import terminal


@click.command("run")
@selection_options
@baseline_option
@click.option("--out", type=click.Path(), metavar="DIR", help="Where the run and its reports go.")
@click.option("--max-suites", type=int, metavar="N", help="How many scripts run at a time; default: cores.")
@click.option("--max-cases", type=int, metavar="N", help="Run only the first N cases of each suite.")
@click.option("--repeats", metavar="N|auto", help="Run every case N times, or those again that a base run differs in.")
@click.option("--timeout", type=float, metavar="S", help="Seconds that a script may take.")
@click.option("-m", "--message", metavar="TEXT", help="Titles the run.")
@click.option("--python", metavar="PATH", help="The interpreter that runs the suites.")
@click.option(
    "--confirm",
    type=click.Choice(["off", "critical", "all"]),
    is_flag=False,
    flag_value="critical",
    help="Run newly failing cases again before they count: those tagged critical, or all (up to 15).",
)
@gate_options
def command(**flags: Any) -> int:
    """Run the suites under PATHS, compare them with a base, judge, and write reports.

    Without PATHS: the folder evals/, and eval_*.py, *_eval.py and *.eval.py anywhere that git does not ignore.
    """
    root = project_root()
    settings = settings_of(root, flags)
    console = terminal()
    outcome = anyio.run(_interruptible, settings, root, console)
    close(outcome, root / settings.out, console)
    return outcome.verdict.exit_code


async def _interruptible(settings: Settings, root: Path, console: Console) -> Outcome:
    """Run until the end, or until a signal asks us to stop: then every child is ended and the record written.

    Raises:
        KeyboardInterrupt: such a signal came.
    """
    outcome: Outcome | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, tasks.cancel_scope)
        with progress(console) as observer:
            outcome = await gate(settings, build_ports(root, os.environ, settings, observers=[observer]))
        tasks.cancel_scope.cancel()
    if outcome is None:
        raise KeyboardInterrupt
    return outcome


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    under_nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    ends = (signal.SIGINT, signal.SIGTERM) if under_nohup else (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with anyio.open_signal_receiver(*ends) as signals:
        async for _ in signals:
            scope.cancel()
            return
