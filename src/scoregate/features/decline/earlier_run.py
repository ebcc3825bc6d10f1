"""The earlier run of a branch that `max_decline` compares with."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from functools import partial

from scoregate.errors import GitHubRefused, RecordError, ScoregateError
from scoregate.features.decline.declare import DECLINE_WINDOW, Window, parse_window
from scoregate.kernel.job.baseline.artifact import list_artifacts, read_artifact
from scoregate.kernel.job.baseline.data_branch import read_blob
from scoregate.kernel.job.baseline.earlier import EarlierRun, ListRuns
from scoregate.kernel.job.baseline.stored import MOST_TRIES
from scoregate.kernel.job.github.base import BaseCommit
from scoregate.kernel.job.github.branch_files import BRANCH, read_tip, stored_runs
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import Connection, merge_group_base, pull_request
from scoregate.kernel.job.github.responses import text_at
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import BaselineKind, Settings

_ON_GITHUB = (BaselineKind.AUTO, BaselineKind.ARTIFACT, BaselineKind.BRANCH, BaselineKind.RERUN)


async def find_decline_base(
    settings: Settings,
    *,
    connection: Connection | None,
    base: BaseCommit | None,
    list_runs: ListRuns | None = None,
) -> Baseline | None:
    """The run of the branch that is `decline_window` ago; None in a pull request's job.

    A change isn't blamed for what others merged, so only jobs on the branch itself compare with its past.

    Args:
        settings: the settings of the project.
        connection: the job's GitHub; None outside of jobs.
        base: the commit and branch of the job's baseline.
        list_runs: lists the runs of the branch; None for those that GitHub has.
    """
    if connection is None or connection.api is None or base is None or not _is_on_branch(connection, base):
        return None
    window = parse_window(DECLINE_WINDOW.of(settings))
    try:
        if list_runs is not None:
            stored = list_runs()
        elif settings.baseline_kind in _ON_GITHUB:
            stored = _list_github(settings.baseline_kind, connection, connection.api, base)
        else:
            return Baseline(None, f"`baseline` is {settings.baseline}, which has no earlier runs of {base.branch}")
        return await _read_first(stored, window, own_commit=connection.github.sha, branch=base.branch)
    except ScoregateError as error:
        return Baseline(None, f"the earlier runs of {base.branch} could not be listed: {error}", unreadable=True)


def _is_on_branch(connection: Connection, base: BaseCommit) -> bool:
    github = connection.github
    is_change = pull_request(github) is not None or merge_group_base(github) is not None
    return not is_change and github.ref_name == base.branch


async def _read_first(stored: AsyncGenerator[EarlierRun], window: Window, *, own_commit: str, branch: str) -> Baseline:
    """The first run at the window's end or before it that is whole and can be read."""
    newest_end = datetime.now(UTC) - timedelta(days=window.number)
    commits, problems = {own_commit}, list[str]()
    async with aclosing(stored):  # the generator closes the history, also if it isn't read to its end
        async for each in stored:
            if each.commit in commits:
                continue
            commits.add(each.commit)
            number = len(commits) - 1
            if each.finished > newest_end if window.unit == "day" else number < window.number:
                continue
            try:
                run = await each.read()
            except (GitHubRefused, RecordError) as error:
                problems.append(f"the run of {each.commit[:7]} can't be read: {error.message}")
                if len(problems) == MOST_TRIES:
                    break
                continue
            if run.end.complete and not run.scope.selection:
                return Baseline(run, f"{number} runs ago, {each.finished:%Y-%m-%d}")
    if problems:
        return Baseline(None, "; ".join(problems), unreadable=True)
    number = len(commits) - 1
    return Baseline(None, f"{branch} has {number} earlier run{'' if number == 1 else 's'}, none is {window} old")


async def _list_github(
    kind: BaselineKind, connection: Connection, api: Api, base: BaseCommit
) -> AsyncGenerator[EarlierRun]:
    """The runs of the branch, the newest first: its artifacts, else what is on the data branch."""
    has_artifact = False
    if kind is not BaselineKind.BRANCH:
        async for artifact in list_artifacts(connection, api, base):
            has_artifact = True
            commit, created = text_at(artifact, "workflow_run", "head_sha"), text_at(artifact, "created_at")
            yield EarlierRun(commit, datetime.fromisoformat(created), partial(read_artifact, api, artifact))
    if kind is BaselineKind.ARTIFACT or has_artifact or (tip := await read_tip(api, BRANCH)) is None:
        return
    for each in stored_runs(tip, connection.key):
        finished = datetime.strptime(each.time, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        yield EarlierRun(each.commit, finished, partial(read_blob, api, each.blob))
