"""Notes at changed files of a pull request that no eval reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anyio import to_thread

from scoregate.errors import GitHubRefused, RecordError
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.commands import command
from scoregate.kernel.job.github.context import PullRequest
from scoregate.kernel.job.github.responses import rows_at, text_at
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget
from scoregate.kernel.judge.archive import RUN_FILE, RUN_FOLDER, read_head
from scoregate.kernel.report.text import one_line
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.run.dependencies.unread import find_doubt, find_unread
from scoregate.kernel.types.relative_paths import matches_path

# A runner shows ten notices of a step; five are for cases.
_MOST = 4
_MOST_COMPARED = 300
_TITLE = "scoregate"
_LONGEST = 300


async def publish_unread_files(globs: Sequence[str], view: ReportView, target: PublishTarget) -> Delivery:
    """Write a notice for each changed file that no suite reads, of those that the globs name.

    In doubt there is none: one notice then says why it is unknown.
    """
    connection, request = target.connection, target.request
    is_wanted = target.annotations and request is not None
    if not is_wanted or connection is None or connection.api is None or request is None:
        return Delivery()
    try:
        head = await to_thread.run_sync(read_head, target.out / RUN_FOLDER / RUN_FILE)
        changed = await _fetch_changed(connection.api, request)
    except (GitHubRefused, RecordError) as error:
        return Delivery(warnings=(f"annotate_unread: the changed files are unknown: {error.message}",))
    patterns = [f"{view.context.folder}/{each}".lstrip("/") for each in globs]
    paths = (text_at(each, "filename") for each in changed if text_at(each, "status") != "removed")
    chosen = [path for path in paths if any(matches_path(path, pattern) for pattern in patterns)]
    if not chosen:
        return Delivery()
    if doubt := find_doubt(head):
        text = one_line(f"annotate_unread: it is unknown whether an eval reads the changed files: {doubt}", _LONGEST)
        target.log(command("notice", target.redact(text), title=_TITLE))
        return Delivery()
    unread = list(find_unread(head.dependencies, chosen))
    for path in unread[:_MOST]:
        target.log(command("notice", "No eval reads this file.", file=target.redact(path), line=1, title=_TITLE))
    more = len(unread) - _MOST
    rest = [f"{more:,} more changed files that no eval reads"] if more > 0 else []
    if len(changed) >= _MOST_COMPARED:
        rest.append(
            f"GitHub lists only {_MOST_COMPARED} of the changed files, so whether an eval reads others is unknown"
        )
    if rest:
        target.log(command("notice", "; ".join(rest), title=_TITLE))
    return Delivery()


async def _fetch_changed(api: Api, request: PullRequest) -> Sequence[Mapping[str, Any]]:
    """The files that a pull request changes, at most 300: GitHub lists no more.

    Raises:
        GitHubRefused: they can't be listed.
    """
    response = await api.get(f"compare/{request.base_sha}...{request.head_sha}")
    return rows_at(response, "files")[:_MOST_COMPARED]
