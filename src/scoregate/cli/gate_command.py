"""`scoregate gate`: judge a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from scoregate.ci.archive import latest_run
from scoregate.cli.closing import close
from scoregate.cli.options import gate_options, project_root, voice_options
from scoregate.cli.stored import gated_settings, rejudged
from scoregate.cli.voice import Voice, stage


@click.command("gate")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="What it is compared with; default: the base that RUN was compared with.",
)
@gate_options
@voice_options
def command(run: Path, baseline: Path | None, voice: Voice, **flags: Any) -> int:
    """Judge RUN under the present settings. Nothing is run.

    If the last run in that folder was killed, what it had measured is judged, as an incomplete run.
    """
    with stage(voice) as ours:
        root = project_root()
        outcome = rejudged(latest_run(run), baseline, gated_settings(root, flags), root=root)
        close(outcome, None, ours, named=str(run))
    return outcome.verdict.exit_code
