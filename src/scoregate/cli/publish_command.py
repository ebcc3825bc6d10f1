"""`scoregate publish`: post the comment for a run of another workflow, whose token could not write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import click
from rich.text import Text

from scoregate.cli.failure_report import report_failure
from scoregate.cli.options import project_root, report_options
from scoregate.cli.output import Output, OutputOptions, open_output, print_result
from scoregate.cli.output_folder import lock_output
from scoregate.cli.stored_runs import load_suite_settings
from scoregate.features.comments.publish import publish_approved_run
from scoregate.features.forks.publish import publish_fork_runs
from scoregate.features.steps import load_steps
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.job.job import open_job_context
from scoregate.kernel.job.untrusted_run import PublishedRun
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.text import one_line


@click.command("publish")
@report_options
@click.option(
    "--approved", metavar="NUMBER@SHA", help="Publish this job's run of an approved commit, and set its status."
)
@click.option(
    "--run-result", default="", metavar="RESULT", help="Result of the job that ran the suites, such as success."
)
def command(run_result: str, **flags: Any) -> int:
    """Comment on the pull request of the run in this job's workflow_run event.

    The artifacts of that run are untrusted, since the author of the pull request controls them. They are limited,
    validated, compared and gated again with the settings that are checked out here. The first workflow is the gate:
    this command exits with 0 unless it can't publish. With --approved, it publishes the run of a command instead.
    """
    root = project_root(flags)
    settings = load_suite_settings(root, flags)
    with lock_output(root / settings.out, root), open_output(OutputOptions()) as output:
        if settings.approved is not None:
            return anyio.run(_publish_approved, root, settings, settings.approved, run_result, output)
        return anyio.run(_publish, root, settings, output)


async def _publish_approved(root: Path, settings: Settings, approved: str, run_result: str, output: Output) -> int:
    # This job has the right to comment. It isn't a job of the pull request, and runs none of its code.
    own = settings.model_copy(update={"approved": None})
    async with open_job_context(root, os.environ, own) as context:
        published = await publish_approved_run(context, approved, run_result, load_steps)
        _print_published(published, output)
    report_failure([published.problem] if published.problem else [], outputs=published.outcome is None)
    return 0 if published.outcome is not None and not published.outcome.pending else 3


def _print_published(published: PublishedRun, output: Output) -> None:
    if published.outcome is not None:
        print_result(published.outcome, None, output)
        return
    text = Redactor(secret_values(os.environ)).text(f"{published.key} {published.problem}".strip())
    output.console.print(Text(one_line(text, 1_000)))


async def _publish(root: Path, settings: Settings, output: Output) -> int:
    exit_code, is_delivered = 0, False
    problems = list[str]()
    async with open_job_context(root, os.environ, settings) as context:
        async for published in publish_fork_runs(context, load_steps):
            problem = f"{published.key} {published.problem}".strip()
            problems += [problem] if published.problem else []
            is_delivered = is_delivered or published.outcome is not None
            _print_published(published, output)
            if published.outcome.pending if published.outcome else published.key:
                exit_code = 3
    report_failure(problems, outputs=not is_delivered)
    return exit_code
