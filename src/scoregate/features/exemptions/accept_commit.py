"""Commit entries to the branch of a pull request, as a GitHub App: pushes by a job's own token start no workflow."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from scoregate.errors import GitHubRefused
from scoregate.features.exemptions.entries.files import parse_files
from scoregate.features.exemptions.entries.write import add_entries
from scoregate.kernel.job.comment_command import CommandCall, CommandRefused
from scoregate.kernel.job.commit_files import GitHubFiles
from scoregate.kernel.job.github.client import Api, open_api
from scoregate.kernel.job.github.responses import text_at
from scoregate.kernel.job.publish.comment_store import JOB_LOGIN, read_own_logins
from scoregate.kernel.types.exemptions import AcceptedRegression

_CONFLICT = 422


async def commit_entries(call: CommandCall, path: str, entries: Iterable[AcceptedRegression]) -> str:
    """Add entries to the file on the branch of a pull request of this repository; returns the commit.

    Args:
        call: the command on the pull request.
        path: the file within the repository.
        entries: the entries.

    Raises:
        CommandRefused: the token is the job's own, or the branch has moved.
        SettingsError: the file is not valid.
        GitHubRefused: GitHub can't be asked.
    """
    github, head = call.context.connection.github, call.head
    async with open_api(github.api_url, github.repository, call.context.app_token) as api:
        if JOB_LOGIN in await read_own_logins(api, github.graphql_url):
            raise CommandRefused(
                "app-token is the job's own token, whose commits start no workflow",
                advice="Set app-token to the token of a GitHub App, or leave it out and commit the entry yourself.",
            )
        content = await GitHubFiles(api, head.head_sha).read(path) or b""
        new = add_entries(content, entries)
        parse_files(new, None)  # a file that is not valid would make all of its entries count for nothing
        commit = await _commit(api, head.head_sha, path, new)
        try:
            # A push in between must not be lost.
            await api.patch(f"git/refs/heads/{call.branch}", {"sha": commit, "force": False})
        except GitHubRefused as refused:
            if refused.status != _CONFLICT:
                raise
            raise CommandRefused("the branch has moved meanwhile", advice="Repeat the command.") from None
    return commit


async def _commit(api: Api, parent: str, path: str, content: bytes) -> str:
    tree = text_at(await api.get(f"git/commits/{parent}"), "tree", "sha")
    blob = await api.post("git/blobs", {"content": base64.b64encode(content).decode(), "encoding": "base64"})
    entry = {"path": path, "mode": "100644", "type": "blob", "sha": text_at(blob, "sha")}
    new_tree = await api.post("git/trees", {"tree": [entry], "base_tree": tree})
    body = {"message": "Accept regressions", "tree": text_at(new_tree, "sha"), "parents": [parent]}
    return text_at(await api.post("git/commits", body), "sha")
