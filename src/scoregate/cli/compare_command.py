"""`scoregate compare`: one finished run against another."""

from __future__ import annotations

from pathlib import Path

import click

from scoregate.ci.archive import latest_run
from scoregate.cli.closing import close
from scoregate.cli.options import project_root, voice_options
from scoregate.cli.stored import gated_settings, rejudged
from scoregate.cli.voice import Voice, stage


@click.command("compare")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--baseline", type=click.Path(path_type=Path), required=True, metavar="RUN", help="What it is held against."
)
@voice_options
def command(run: Path, baseline: Path, voice: Voice) -> int:
    """Show how every score of RUN moved against another run. Exits with 0 whatever moved."""
    with stage(voice) as ours:
        outcome = rejudged(latest_run(run), baseline, gated_settings(project_root(), {}))
        close(outcome, None, ours)
    return 0
