"""The earlier run of a branch that `max_decline` compares with."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from anyio import to_thread

from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.artifact import MOST_TRIES, list_artifacts, read_artifact
from scoregate.ci.baseline.data_branch import read_blob
from scoregate.ci.github.base import BaseCommit
from scoregate.ci.github.branch_files import BRANCH, read_tip, stored_runs
from scoregate.ci.github.client import Api
from scoregate.ci.github.context import Connection, merge_group_base, pull_request
from scoregate.ci.github.responses import text_at
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.ci.settings.window import Window, parse_window
from scoregate.core.records import record
from scoregate.core.runs.run import Run
from scoregate.errors import GitHubRefused, RecordError, ScoregateError

_ON_GITHUB = (BaselineKind.AUTO, BaselineKind.ARTIFACT, BaselineKind.BRANCH, BaselineKind.RERUN)


@record
class EarlierRun:
    """A run of the branch that can be read.

    Attributes:
        commit: its commit.
        finished: when it was stored.
        read: reads it.
    """

    commit: str
    finished: datetime
    read: Callable[[], Awaitable[Run]]


async def find_decline_base(
    root: Path,
    settings: Settings,
    *,
    environ: Mapping[str, str],
    connection: Connection | None,
    base: BaseCommit | None,
) -> Baseline | None:
    """The run of the branch that is `decline_window` ago; None if nothing asks for it, or in a pull request's job.

    A change isn't blamed for what others merged, so only jobs on the branch itself compare with its past.

    Args:
        root: the folder of the project.
        settings: the settings of the project.
        environ: the host's environment.
        connection: the job's GitHub; None outside of jobs.
        base: the commit and branch of the job's baseline.
    """
    policy = settings.policy()
    if not any(limits.max_decline for limits in (policy.default, *policy.suites.values())):
        return None
    if connection is None or connection.api is None or base is None or not _is_on_branch(connection, base):
        return None
    window = parse_window(settings.decline_window)
    try:
        if settings.baseline_kind is BaselineKind.HISTORY:
            stored = _list_history(root, environ, base.branch, connection.key)
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
            if run.complete and not run.selection:
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


async def _list_history(root: Path, environ: Mapping[str, str], branch: str, key: str) -> AsyncGenerator[EarlierRun]:
    """The bases of the branch in the shared history, the newest first."""
    from scoregate.ci.baseline.history import read_stored_run
    from scoregate.ci.history.bases import list_bases
    from scoregate.ci.history.location import open_history
    from scoregate.ci.history.project import find_project_name

    project = await find_project_name(root, environ)
    store = await to_thread.run_sync(open_history, root, environ)

    try:
        for each in await to_thread.run_sync(partial(list_bases, store, project, branch=branch, key=key)):
            yield EarlierRun(
                each.commit,
                datetime.fromtimestamp(each.finished, UTC),
                partial(to_thread.run_sync, read_stored_run, store, each.run_id),
            )
    finally:
        await to_thread.run_sync(store.close)
