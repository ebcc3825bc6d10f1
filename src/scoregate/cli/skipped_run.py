"""End a job whose pull request has the label `scoregate: skip`."""

from __future__ import annotations

import os
from pathlib import Path

import anyio

from scoregate.errors import GitHubRefused, ScoregateError
from scoregate.kernel.job.github.commands import command as log_command
from scoregate.kernel.job.github.commands import outputs_text
from scoregate.kernel.job.github.context import read_github_job
from scoregate.kernel.judge.settings import Settings


class RunSkipped(ScoregateError):
    """A label skipped the run, and nothing allows this pull request to pass without one."""

    exit_code = 3


def end_if_skipped(root: Path, settings: Settings) -> bool:
    """Whether a label skips the run, and the job passes without one.

    A label that doesn't count is a warning, and the suites run.

    Raises:
        RunSkipped: a label skips the run, and the job must not pass.
    """
    github = read_github_job(os.environ)
    if github is None or "pull_request" not in github.event:
        return False
    from scoregate.features.skip_label.label import SKIP_LABEL, find_skipped_run, names_skip_label
    from scoregate.kernel.job.github.labels import LabelRefused

    if not names_skip_label(github):
        return False
    try:
        skipped = anyio.run(find_skipped_run, root, settings, os.environ)
    except (LabelRefused, GitHubRefused) as refused:
        message = f"the label `{SKIP_LABEL}` doesn't count, so the suites run: {refused}"
        print(log_command("warning", message, title="scoregate"), flush=True)
        return False
    if skipped is None:
        return False
    if skipped.warning:
        print(log_command("warning", skipped.warning, title="scoregate"), flush=True)
    if skipped.problem:
        raise RunSkipped(skipped.sentence, advice="Remove the label, or set it as docs/guides/commands.md describes.")
    print(log_command("notice", skipped.sentence, title="scoregate"), flush=True)
    for path, text in (
        (github.summary, f"## scoregate: skipped\n\n{skipped.sentence}\n"),
        (github.output, outputs_text({"conclusion": "skipped", "run-path": "", "artifact-name": ""})),
    ):
        if path is not None:
            with path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(text)
    return True
