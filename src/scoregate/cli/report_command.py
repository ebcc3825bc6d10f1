"""`scoregate report`: a finished run in any form."""

from __future__ import annotations

import time
from pathlib import Path

import click

from scoregate.ci.report.context import Context
from scoregate.ci.report.make_view import make_view
from scoregate.ci.reporting import REPORTS
from scoregate.cli.closing import close
from scoregate.cli.options import project_root
from scoregate.cli.stored import gated_settings, rejudged
from scoregate.cli.terminal import terminal

FORMATS = (*REPORTS, "console")


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMATS), default="console", show_default=True)
@click.option("--baseline", type=click.Path(path_type=Path), metavar="RUN", help="What it is held against.")
def command(run: Path, baseline: Path | None, form: str) -> int:
    """Write RUN to standard output in one of the formats of the reports."""
    outcome = rejudged(run, baseline, gated_settings(project_root(), {}))
    if form == "console":
        close(outcome, None, terminal())
        return 0
    _, render = REPORTS[form]
    for chunk in render(make_view(outcome.comparison, outcome.verdict, Context(generated_at=time.time()))):
        click.echo(chunk, nl=False)
    return 0
