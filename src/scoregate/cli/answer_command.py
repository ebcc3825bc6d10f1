"""`scoregate answer`: answer a command in a comment on a pull request."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from scoregate.cli.text_output import print_line
from scoregate.errors import UsageError
from scoregate.features.comments.answer import answer_event
from scoregate.features.comments.run import NO_RUN
from scoregate.features.steps import load_all_steps, load_steps
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.job.comment_command import Answer, CommandContext
from scoregate.kernel.job.github.commands import command as log_command
from scoregate.kernel.job.github.commands import outputs_text
from scoregate.kernel.job.github.context import GitHubJob, find_token, open_connection
from scoregate.kernel.job.untrusted_run import compare_run
from scoregate.kernel.judge.settings import load_settings


@click.command("answer")
@click.option(
    "--app-token",
    default="",
    metavar="TOKEN",
    help="Token of a GitHub App that commits accepted regressions; without it, the answer shows them.",
)
@click.option("--key", metavar="NAME", help="Key of the comment and the artifacts (default: workflow-job).")
@click.option("--github-token", metavar="TOKEN", help="GitHub token; prefer the environment variable GITHUB_TOKEN.")
def command(app_token: str, **flags: Any) -> int:
    """Answer the command in this job's issue_comment event, or the label `scoregate: run`.

    GitHub confirms who asks and whether they may write. Nothing is checked out or run here: the outputs name the commit
    that the next job runs. The exit code is 2 if the command is refused.
    """
    return anyio.run(_answer, flags, app_token)


async def _answer(flags: dict[str, Any], app_token: str) -> int:
    root = Path.cwd()
    settings = load_settings(root, os.environ, flags=flags)
    token = find_token(settings, os.environ)
    redact = Redactor({*secret_values(os.environ), *filter(None, (token, app_token))})
    async with open_connection(settings, os.environ) as connection:
        if connection is None or connection.api is None:
            raise UsageError(
                "`scoregate answer` needs a job of GitHub with a token",
                advice="Run it in a job on `issue_comment`: see docs/guides/commands.md.",
            )
        kinds = [kind for step in load_all_steps() for kind in step.comment_commands]
        compare = partial(compare_run, load_steps)
        context = CommandContext(root, os.environ, connection, connection.api, redact, kinds, compare, app_token)
        answer = await answer_event(context)
        _write_outputs(connection.github, answer)
    if answer is None:
        print_line("The event is not a command.")
        return 0
    for warning in answer.warnings:
        print(log_command("warning", redact.text(warning), title="scoregate"), flush=True)
    if answer.refusal is not None:
        raise answer.refusal
    started = answer.outputs.get("commit")
    print_line(f"{started} is approved; the next job runs it." if started else "The command is answered.")
    return 0


def _write_outputs(github: GitHubJob, answer: Answer | None) -> None:
    values = {**NO_RUN, **({} if answer is None else answer.outputs)}
    if github.output is not None:
        with github.output.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(outputs_text(values))
