"""`/scoregate rerun-failed`: run the failed jobs of the newest commit again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from scoregate.kernel.job.comment_command import (
    PREFIX,
    STARTED,
    Answer,
    CommandCall,
    CommandKind,
    CommandRefused,
    refuse_extra_arguments,
)
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import ARTIFACT_PREFIX, make_slug
from scoregate.kernel.job.github.responses import number_at, text_at
from scoregate.kernel.report.markdown import code, link, prose
from scoregate.kernel.types.records import record

_EVENT = "pull_request"
_FAILED = ("failure", "timed_out", "cancelled", "startup_failure")
_MOST_RUNS = 100
_USAGE = f"{PREFIX} rerun-failed"


@record
class RerunCommand:
    """`rerun-failed`."""

    async def carry_out(self, call: CommandCall) -> Answer:
        """Run the failed jobs of the newest commit again."""
        connection, commit = call.context.connection, call.head.head_sha
        runs = await rerun_failed_jobs(call.context.api, commit, connection.key)
        address = f"{connection.github.repository_url}/actions/runs"
        links = ", ".join(link(prose(str(run)), f"{address}/{run}") for run in runs)
        return Answer(Markup(f"The failed jobs of {code(commit[:7])} run again: {links}."), reaction=STARTED)


def _parse(words: Sequence[str], _today: str) -> RerunCommand:
    refuse_extra_arguments(words, _USAGE)
    return RerunCommand()


async def rerun_failed_jobs(api: Api, commit: str, key: str) -> list[int]:
    """Run the failed jobs of workflows with this key again, with the rights that they had.

    Args:
        api: the repository.
        commit: the head of the pull request.
        key: the key of the use, which begins with the name of the workflow unless the workflow sets another.

    Returns:
        The ids of the workflows' runs.

    Raises:
        CommandRefused: no run failed, or one still runs.
        GitHubRefused: they can't be listed or started.
    """
    runs = [run async for run in _list_runs(api, commit, key)]
    failed = [number_at(run, "id") for run in runs if run.get("conclusion") in _FAILED]
    if not failed:
        if any(run.get("status") != "completed" for run in runs):
            raise CommandRefused(f"the run of {commit[:7]} has not ended yet")
        raise CommandRefused(
            f"no run of {commit[:7]} failed" if runs else f"{commit[:7]} has no run with the key {key}",
            command=f"{PREFIX} run",
        )
    for run in failed:
        await api.post(f"actions/runs/{run}/rerun-failed-jobs", {})
    return failed


async def _list_runs(api: Api, commit: str, key: str) -> Any:
    count = 0
    async for run in api.pages("actions/runs", "workflow_runs", head_sha=commit, event=_EVENT):
        count += 1
        if count > _MOST_RUNS:
            return
        if await _has_key(api, run, key):
            yield run


async def _has_key(api: Api, run: Mapping[str, Any], key: str) -> bool:
    # Without the input `key`, a key begins with the name of the workflow.
    if key.startswith(f"{make_slug(text_at(run, 'name'))}-"):
        return True
    name = f"{ARTIFACT_PREFIX}{key}"
    pages = api.pages(f"actions/runs/{number_at(run, 'id')}/artifacts", "artifacts", name=name)
    return any([text_at(each, "name") == name async for each in pages])  # `any` takes no asynchronous generator


RERUN = CommandKind("rerun-failed", _USAGE, "run the failed jobs of the newest commit again", _parse)
