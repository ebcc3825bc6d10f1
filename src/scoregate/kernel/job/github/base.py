"""The base commit of a job: its changes are tested on top of it, and its scores are the baseline."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.errors import GitHubRefused
from scoregate.kernel.host import git
from scoregate.kernel.job.github.context import (
    GitHubJob,
    PullRequest,
    commit_before_push,
    default_branch,
    merge_group_base,
    pull_request,
)
from scoregate.kernel.job.github.responses import rows_at, text_at
from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    from scoregate.kernel.job.github.client import Api

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@record
class BaseCommit:
    """A commit and its branch; without a commit, the newest one of the branch."""

    branch: str
    commit: str | None = None


async def find_base(github: GitHubJob, root: Path, api: Api | None, *, branch: str | None = None) -> BaseCommit:
    """The base of the commit that is checked out.

    Args:
        github: the job.
        root: the checked-out repository, perhaps without its history.
        api: the API of the repository; None without a token.
        branch: the branch of the base for events without one; by default the default branch.
    """
    if (request := pull_request(github)) is not None:
        return BaseCommit(request.base_branch, await _find_base_commit(request, github, root, api=api))
    if (group := merge_group_base(github)) is not None:
        commit, name = group
        return BaseCommit(name or branch or default_branch(github), commit)
    if (before := commit_before_push(github)) is not None:
        return BaseCommit(github.ref_name, before)
    return BaseCommit(branch or default_branch(github))


async def _find_base_commit(request: PullRequest, github: GitHubJob, root: Path, *, api: Api | None) -> str:
    """The base of a pull request: the first parent of its merge commit, else its merge base."""
    head = await git.head_commit(root)
    parents = await git.parents(root, head) if head else ()
    if head == github.sha and len(parents) == 2 and parents[1] == request.head_sha:
        return parents[0]
    if head is None and (merged := await _fetch_first_parent(api, github.sha, request)):
        return merged
    fork_point = await git.merge_base(root, request.base_sha, head) if head else None
    return fork_point or await _fetch_merge_base(api, request) or request.base_sha


async def _fetch_first_parent(api: Api | None, commit: str, request: PullRequest) -> str | None:
    """The first parent of a merge commit, from GitHub."""
    if api is None:
        return None
    try:
        response = await api.get(f"git/commits/{commit}")
        parents = [text_at(each, "sha") for each in rows_at(response, "parents")]
    except GitHubRefused:
        return None
    return parents[0] if len(parents) == 2 and parents[1] == request.head_sha else None


async def _fetch_merge_base(api: Api | None, request: PullRequest) -> str | None:
    if api is None:
        return None
    try:
        response = await api.get(f"compare/{request.base_sha}...{request.head_sha}")
        return text_at(response, "merge_base_commit", "sha")
    except GitHubRefused:
        return None


async def find_merged_base(api: Api, request: PullRequest, *, merge_commit: str | None) -> BaseCommit:
    """The base of a pull request that is not checked out, from GitHub alone.

    Args:
        api: the repository.
        request: the pull request.
        merge_commit: the commit that an untrusted run claims to have tested; used only if GitHub confirms it.
    """
    # An untrusted run names the commit, so its parents are checked.
    claimed = merge_commit if merge_commit and _COMMIT.fullmatch(merge_commit) else None
    parent = await _fetch_first_parent(api, claimed, request) if claimed else None
    return BaseCommit(request.base_branch, parent or await _fetch_merge_base(api, request) or request.base_sha)
