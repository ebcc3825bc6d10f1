"""Publish the run of an approved commit: the status of the commit, and the comment.

The job of the run executed code of the pull request, so what it left is untrusted. Only its numbers are used, judged
again by this repository's settings. The status is `success` only if that job succeeded as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from scoregate.errors import RecordError, UsageError
from scoregate.features.comments.status import CommitState, set_status
from scoregate.kernel.job.baseline.artifact import read_artifact
from scoregate.kernel.job.baseline.unpack import UNTRUSTED_BOUNDS
from scoregate.kernel.job.commit_files import GitHubFiles
from scoregate.kernel.job.github.base import find_merged_base
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import Connection, MeasuredCommit, read_pull_request, split_approved
from scoregate.kernel.job.github.responses import number_at, text_at
from scoregate.kernel.job.job import JobContext
from scoregate.kernel.job.publish.answers import put_answer
from scoregate.kernel.job.steps import LoadSteps, Outcome
from scoregate.kernel.job.untrusted_run import PublishedRun, collect_outcome, publish_run
from scoregate.kernel.judge.settings import CommentMode
from scoregate.kernel.report.markdown import code, link, prose
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.run import Run

ARTIFACT = "command-run"
SUCCEEDED = "success"


async def publish_approved_run(context: JobContext, approved: str, job_result: str, load: LoadSteps) -> PublishedRun:
    """Judge the run of an approved commit, and set the commit's status.

    Args:
        context: the context of this job, whose settings are of the default branch.
        approved: the pull request and the commit, as `NUMBER@SHA`.
        job_result: the result of the job that ran the suites, such as `success`; empty if it is unknown.
        load: loads the steps of features.

    Raises:
        UsageError: this is no job of GitHub, or it has no token.
        GitHubRefused: the status can't be set.
    """
    connection = context.connection
    if connection is None or connection.api is None:
        raise UsageError("`approved` needs a job of GitHub with a token", advice="See docs/guides/commands.md.")
    number, commit = split_approved(approved)
    api = connection.api
    judged = _judge_run(context, connection, api, load, number=number, commit=commit)
    published = await collect_outcome(connection.key, judged)
    state, description = _decide(published, job_result)
    await set_status(
        api,
        commit,
        state,
        description,
        key=connection.key,
        is_part=context.settings.is_for_run("suite"),
        url=connection.github.run_url,
    )
    if published.outcome is None:
        await _answer_failure(connection, api, number, commit, context.redact.text(published.problem))
    return published


async def _judge_run(
    context: JobContext, connection: Connection, api: Api, load: LoadSteps, *, number: int, commit: str
) -> Outcome:
    request = read_pull_request(await api.get(f"pulls/{number}"))
    run = await _read_run(connection, api, commit)
    is_newest = request.head_sha == commit
    measured = replace(request, head_sha=commit)
    github = connection.github
    base = await find_merged_base(api, measured, merge_commit=None)
    subject = MeasuredCommit(commit, "", github.run, github.run_url, measured, measured_here=False)
    # The run of an older commit must not replace the comment on the newest one.
    update: dict[str, Any] = {"annotations": False} | ({} if is_newest else {"comment": CommentMode.OFF})
    settings = context.settings.model_copy(update=update)
    head = GitHubFiles(api, commit)
    return await publish_run(replace(context, settings=settings, subject=subject, base=base, head=head), run, load)


async def _read_run(connection: Connection, api: Api, commit: str) -> Run:
    newest: Mapping[str, Any] | None = None
    path = f"actions/runs/{connection.github.run_id}/artifacts"
    async for artifact in api.pages(path, "artifacts", name=ARTIFACT):
        is_newer = newest is None or number_at(artifact, "id") > number_at(newest, "id")
        if text_at(artifact, "name") == ARTIFACT and artifact.get("expired") is not True and is_newer:
            newest = artifact
    if newest is None:
        raise RecordError(f"the job of the run left no artifact {ARTIFACT}")
    run = await read_artifact(api, newest, UNTRUSTED_BOUNDS)
    if run.code.commit != commit:
        raise RecordError(f"the artifact is a run of {(run.code.commit or 'no commit')[:7]}, not of {commit[:7]}")
    return run


def _decide(published: PublishedRun, job_result: str) -> tuple[CommitState, str]:
    """The state of the commit. Anything but two agreeing passes is no success."""
    outcome = published.outcome
    if outcome is None:
        return CommitState.ERROR, f"could not be measured: {published.problem}"
    title = outcome.view.heading if outcome.view else str(outcome.verdict.conclusion)
    if outcome.exit_code != 0:
        failed = outcome.verdict.conclusion is Conclusion.FAILED
        return (CommitState.FAILURE if failed else CommitState.ERROR), title
    if job_result != SUCCEEDED:
        return CommitState.FAILURE, f"the job that ran the suites ended with {job_result or 'an unknown result'}"
    return CommitState.SUCCESS, title


async def _answer_failure(connection: Connection, api: Api, number: int, commit: str, problem: str) -> None:
    log = link(Markup("The log"), connection.github.run_url)
    text = f"The run of {code(commit[:7])} could not be measured: {prose(problem)}\n\n{log} shows why."
    graphql_url = connection.github.graphql_url
    await put_answer(api, number, connection.key, text, is_writer=True, graphql_url=graphql_url)
