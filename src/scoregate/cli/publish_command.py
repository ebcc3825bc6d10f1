"""`scoregate publish`: post the comment for a run of another workflow, whose token could not write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import click
from rich.text import Text

from scoregate.ci.fork_comment import publish_fork_runs
from scoregate.ci.job import open_job_context
from scoregate.ci.report.text import one_line
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.ci.settings import Settings
from scoregate.cli.failure_report import report_failure
from scoregate.cli.options import project_root, report_options
from scoregate.cli.output import Output, OutputOptions, open_output, print_result
from scoregate.cli.output_folder import lock_output
from scoregate.cli.stored_runs import load_suite_settings


@click.command("publish")
@report_options
def command(**flags: Any) -> int:
    """Comment on the pull request of the run in this job's workflow_run event.

    The artifacts of that run are untrusted, since the author of the pull request controls them. They are limited,
    validated, compared and gated again with the settings that are checked out here. The first workflow is the gate:
    this command exits with 0 unless it can't publish.
    """
    root = project_root(flags)
    settings = load_suite_settings(root, flags)
    with lock_output(root / settings.out, root), open_output(OutputOptions()) as output:
        return anyio.run(_publish, root, settings, output)


async def _publish(root: Path, settings: Settings, output: Output) -> int:
    exit_code, is_delivered = 0, False
    problems = list[str]()
    async with open_job_context(root, os.environ, settings) as context:
        async for published in publish_fork_runs(context):
            problem = f"{published.key} {published.problem}".strip()
            problems += [problem] if published.problem else []
            if published.outcome is not None:
                is_delivered = True
                print_result(published.outcome, None, output)
            else:
                text = Redactor(secret_values(os.environ)).text(problem)
                output.console.print(Text(one_line(text, 1_000)))
            if published.outcome.pending if published.outcome else published.key:
                exit_code = 3
    report_failure(problems, outputs=not is_delivered)
    return exit_code
