"""`scoregate merge`: several runs judged and reported as one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from scoregate.ci.archive import RUN_FOLDER, amend_run
from scoregate.ci.flow import Outcome, gate_merged
from scoregate.ci.merging import merge, read_legs
from scoregate.ci.reporting import reporting
from scoregate.ci.scene import open_scene
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.ci.settings import Settings
from scoregate.cli.closing import close
from scoregate.cli.options import judging_options, project_root, voice_options
from scoregate.cli.out_folder import hold_out
from scoregate.cli.stored import judging_gated_settings
from scoregate.cli.voice import Voice, stage
from scoregate.core.record import Run


@click.command("merge")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--expect", type=click.IntRange(min=1), metavar="N", help="How many runs there should be.")
@click.option("-m", "--message", metavar="TEXT", help="Titles the run.")
@judging_options
@voice_options
def command(runs: tuple[Path, ...], expect: int | None, voice: Voice, **flags: Any) -> int:
    """Put RUNS together, the legs of a matrix for instance, compare them with a base, judge, and report once.

    Their suites are told apart by the names of the folders.
    """
    root = project_root(flags)
    settings = judging_gated_settings(root, flags)
    if settings.message is not None:
        settings = settings.model_copy(update={"message": Redactor(secret_values(os.environ)).text(settings.message)})
    with hold_out(root / settings.out, root):
        run = merge(
            read_legs(_expanded(runs), expected=expect), root / settings.out / RUN_FOLDER, settings, expected=expect
        )
        with stage(voice) as ours:
            outcome = anyio.run(_judged, run, settings, root)
            close(outcome, root / settings.out, ours)
    return outcome.exit_code


async def _judged(run: Run, settings: Settings, root: Path) -> Outcome:
    async with open_scene(root, os.environ, settings) as scene:
        return await gate_merged(run, settings, reporting(scene), amend=partial(amend_run, scene.out / RUN_FOLDER))


def _expanded(paths: Iterable[Path]) -> Iterator[Path]:
    """The paths, with patterns as the folders that they match, since a job's inputs see no shell."""
    for path in paths:
        pattern = "*" in str(path) and not path.is_absolute()
        yield from sorted(Path().glob(str(path))) if pattern else [path]
