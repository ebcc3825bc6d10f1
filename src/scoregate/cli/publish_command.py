"""`scoregate publish`: comment for a run of another workflow, which had no right to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import click
from rich.text import Text

from scoregate.ci.report.text import one_line
from scoregate.ci.scene import open_scene
from scoregate.ci.second_stage import Published, publish_first_stage
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.ci.settings import Settings
from scoregate.cli.closing import close
from scoregate.cli.fallback import report_failure
from scoregate.cli.options import judging_options, project_root
from scoregate.cli.out_folder import hold_out
from scoregate.cli.stored import gated_settings
from scoregate.cli.voice import Stage, Voice, stage


@click.command("publish")
@judging_options
def command(**flags: Any) -> int:
    """Comment on the pull request of the run that this job's workflow_run event tells of.

    What that run left is made by whoever wrote the pull request: it is bounded, validated, compared and judged anew
    by the settings that are checked out here. The gate is the first workflow's; this ends with 0 unless it cannot
    publish.
    """
    root = project_root(flags)
    settings = gated_settings(root, flags)
    with hold_out(root / settings.out, root), stage(Voice()) as ours:
        return anyio.run(_publish, root, settings, ours)


async def _publish(root: Path, settings: Settings, ours: Stage) -> int:
    exit_code, delivered = 0, False
    problems = list[str]()
    async with open_scene(root, os.environ, settings) as scene:
        async for published in publish_first_stage(scene):
            exit_code = max(exit_code, _show(published, ours))
            delivered = delivered or published.outcome is not None
            problems += [f"{published.key} {published.problem}".strip()] if published.problem else []
    report_failure(problems, outputs=not delivered)
    return exit_code


def _show(published: Published, ours: Stage) -> int:
    if published.outcome is not None:
        close(published.outcome, None, ours)
        return 3 if published.outcome.pending else 0
    problem = Redactor(secret_values(os.environ)).text(f"{published.key} {published.problem}".strip())
    ours.console.print(Text(one_line(problem, 1_000)))
    return 3 if published.key else 0
