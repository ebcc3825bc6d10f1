"""The label `scoregate: skip`: a pull request without a run. It passes only if the base or the workflow allows it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import anyio

from scoregate.errors import GitHubRefused, SettingsError
from scoregate.features.skip_label.declare import ALLOW_SKIP
from scoregate.kernel.host import git
from scoregate.kernel.job.base_settings import read_commit_layer
from scoregate.kernel.job.commit_files import GitHubFiles
from scoregate.kernel.job.github.base import find_base
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import (
    Connection,
    GitHubJob,
    PullRequest,
    is_read_only,
    open_connection,
    pull_request,
)
from scoregate.kernel.job.github.labels import LabelRefused, VerifiedLabel, find_labelled_head, has_label, verify_label
from scoregate.kernel.job.publish.answers import put_answer
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.markdown import code, prose
from scoregate.kernel.types.records import record

SKIP_LABEL = "scoregate: skip"


@record
class SkippedRun:
    """A pull request whose run is skipped by a label.

    Args:
        login: who set the label.
        commit: the commit that isn't measured.
        problem: why the job can't pass; empty if it may.
        warning: why the comment was not written; empty if it was, or must not be.
    """

    login: str
    commit: str
    problem: str = ""
    warning: str = ""

    @property
    def sentence(self) -> str:
        """What happened, for the log, the summary and the comment."""
        reason = f" {self.problem}." if self.problem else ""
        return f"No suite ran on {self.commit[:7]}: {self.login} set the label `{SKIP_LABEL}`.{reason}"


def names_skip_label(github: GitHubJob | None) -> bool:
    """Whether the event's pull request has the label. It is verified later; without it, nothing is asked of GitHub."""
    if github is None or pull_request(github) is None:
        return False
    labels = github.event["pull_request"].get("labels")
    names = (each.get("name") for each in labels if isinstance(each, dict)) if isinstance(labels, list) else ()
    return any(isinstance(name, str) and name.casefold() == SKIP_LABEL for name in names)


async def find_skipped_run(root: Path, settings: Settings, environ: Mapping[str, str]) -> SkippedRun | None:
    """Verify the label of the job's pull request; None if it doesn't have it any more.

    Raises:
        LabelRefused: the label doesn't count.
        GitHubRefused: GitHub can't be asked.
    """
    async with open_connection(settings, environ) as connection:
        request = None if connection is None else pull_request(connection.github)
        if connection is None or request is None or connection.github.is_approved:
            return None
        if connection.api is None:
            raise LabelRefused("without a token it can't be verified")
        if not await has_label(connection.api, request.number, SKIP_LABEL):
            return None
        label = await verify_label(connection.api, request.number, SKIP_LABEL)
        problem = await _find_problem(root, settings, connection, connection.api, request=request, label=label)
        skipped = SkippedRun(label.login, request.head_sha, problem)
        return SkippedRun(label.login, request.head_sha, problem, await _comment(connection, connection.api, skipped))


async def _find_problem(
    root: Path, settings: Settings, connection: Connection, api: Api, *, request: PullRequest, label: VerifiedLabel
) -> str:
    """Why the label doesn't let the job pass; empty if it does."""
    if request.is_fork_of(connection.github.repository):
        return "In a pull request of a fork it lets no job pass"
    if not await _is_allowed(root, settings, connection, api):
        return f"`{ALLOW_SKIP.name}` is not set on the base, so the job doesn't pass"
    try:
        head = await find_labelled_head(api, request.number, SKIP_LABEL, label.time)
    except LabelRefused as refused:
        return f"It is unknown on which commit: {refused}"
    if head != request.head_sha:
        return f"It was set on {head[:7]}, so set it again"
    return ""


async def _is_allowed(root: Path, settings: Settings, connection: Connection, api: Api) -> bool:
    """Whether the workflow, or else the file of the base, allows it; the change's own file doesn't count."""
    if settings.is_for_run(ALLOW_SKIP.name):
        return ALLOW_SKIP.of(settings)
    base = await find_base(connection.github, root, api)
    if base.commit is None:
        return False
    top = await git.top_level(root) or root
    folder = await anyio.to_thread.run_sync(lambda: Path(os.path.relpath(root.resolve(), top.resolve())).as_posix())
    try:
        layer = await read_commit_layer(GitHubFiles(api, base.commit), "" if folder == "." else folder)
    except SettingsError:
        return False
    return layer.values.get(ALLOW_SKIP.name) is True


async def _comment(connection: Connection, api: Api, skipped: SkippedRun) -> str:
    """Add the skipped run to the comment, whose report is of an earlier commit; returns why that failed."""
    request = pull_request(connection.github)
    if request is None or is_read_only(connection.github):
        return ""
    problem = f" {prose(skipped.problem)}." if skipped.problem else ""
    text = f"**{prose(skipped.login)}** · {code(SKIP_LABEL)}\n\nNo suite ran on {code(skipped.commit[:7])}.{problem}"
    url = connection.github.graphql_url
    try:
        await put_answer(api, request.number, connection.key, text, is_writer=True, graphql_url=url)
    except GitHubRefused as refused:
        return f"cannot write the comment: {refused}"
    return ""
