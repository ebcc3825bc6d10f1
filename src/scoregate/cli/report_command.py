"""`scoregate report`: a finished run in any form."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from scoregate.ci.archive import RUN_FOLDER, latest_run, recover
from scoregate.ci.reporting import REPORTS
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.cli.closing import close, view_of
from scoregate.cli.options import project_root, voice_options
from scoregate.cli.stored import gated_settings, rejudged
from scoregate.cli.voice import Voice, emit, stage
from scoregate.errors import UsageError

_CONSOLE = "console"
FORMATS = (*REPORTS, _CONSOLE)


@click.command("report")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMATS), help=f"Default: {_CONSOLE}, or json with --json.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="What it is compared with; default: the base that RUN was compared with.",
)
@click.option(
    "--recover",
    "recovers",
    is_flag=True,
    help="First make a run of what a killed scoregate had measured; it is kept below `interrupted`.",
)
@voice_options
def command(run: Path | None, baseline: Path | None, form: str | None, voice: Voice, *, recovers: bool) -> int:
    """Write RUN to standard output in one of the formats of the reports; -q and -v are of the console's.

    Without RUN: the last run of the project, in the folder that the setting `out` names.
    """
    form = _form(form, voice)
    root = project_root()
    settings = gated_settings(root, {})
    run = run or root / settings.out
    if recovers:
        _recover(run)
    outcome = rejudged(latest_run(run), baseline, settings, root=root)
    if form == _CONSOLE:
        with stage(voice) as ours:
            close(outcome, None, ours)
        return 0
    _, render = REPORTS[form]
    emit(Redactor(secret_values(os.environ)).stream(render(view_of(outcome))), sys.stdout)
    return 0


def _recover(run: Path) -> None:
    out = run.parent if run.resolve().name == RUN_FOLDER else run
    found = recover(out)
    for each in found:
        click.echo(each.notice, err=True)
    if not found:
        click.echo(f"{out}: there is nothing to recover", err=True)


def _form(named: str | None, voice: Voice) -> str:
    """What is written.

    Raises:
        UsageError: two flags name different ones.
    """
    if voice.json and named not in (None, "json"):
        raise UsageError(f"--json and --format {named} contradict each other", advice="Give one of them.")
    return "json" if voice.json else named or _CONSOLE
