"""The base of a job: the commit that its changes are tested on top of, whose scores it is compared with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from scoregate.ci import git
from scoregate.ci.github.client import Api
from scoregate.ci.github.context import (
    GitHubJob,
    PullRequest,
    default_branch,
    merge_group_base,
    pull_request,
    pushed_before,
)
from scoregate.ci.github.responses import rows_at, text_at
from scoregate.errors import GitHubRefused

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class BaseCommit:
    """A commit and its branch; without a commit, the newest one of the branch."""

    branch: str
    commit: str | None = None


async def find_base(github: GitHubJob, root: Path, api: Api | None, *, branch: str | None = None) -> BaseCommit:
    """The base of the commit that is checked out.

    Args:
        github: the job.
        root: the checked-out repository, perhaps without its history.
        api: None without a token.
        branch: of the base, for events that don't name one; by default the default branch.
    """
    if (request := pull_request(github)) is not None:
        return BaseCommit(request.base_branch, await _find_base_commit(request, github, root, api=api))
    if (group := merge_group_base(github)) is not None:
        commit, name = group
        return BaseCommit(name or branch or default_branch(github), commit)
    if (before := pushed_before(github)) is not None:
        return BaseCommit(github.ref_name, before)
    return BaseCommit(branch or default_branch(github))


async def _find_base_commit(request: PullRequest, github: GitHubJob, root: Path, *, api: Api | None) -> str:
    """The base of a pull request: the first parent of the merge commit, else the commit where it left its base."""
    head = await git.head_commit(root)
    parents = await git.parents(root, head) if head else ()
    if head == github.sha and len(parents) == 2 and parents[1] == request.head_sha:
        return parents[0]
    if head is None and (merged := await _fetch_first_parent(api, github.sha, request)):
        return merged
    left = await git.merge_base(root, request.base_sha, head) if head else None
    return left or await _fetch_merge_base(api, request) or request.base_sha


async def _fetch_first_parent(api: Api | None, commit: str, request: PullRequest) -> str | None:
    """The first parent of a merge commit, from GitHub."""
    if api is None:
        return None
    try:
        found = await api.get(f"git/commits/{commit}")
        parents = [text_at(each, "sha") for each in rows_at(found, "parents")]
    except GitHubRefused:
        return None
    return parents[0] if len(parents) == 2 and parents[1] == request.head_sha else None


async def _fetch_merge_base(api: Api | None, request: PullRequest) -> str | None:
    if api is None:
        return None
    try:
        found = await api.get(f"compare/{request.base_sha}...{request.head_sha}")
        return text_at(found, "merge_base_commit", "sha")
    except GitHubRefused:
        return None


async def find_merged_base(api: Api, request: PullRequest, *, merge_commit: str | None) -> BaseCommit:
    """The base of a pull request that is not checked out, from GitHub alone.

    Args:
        api: the repository.
        request: the pull request.
        merge_commit: the commit that an untrusted run claims to have tested; used only if GitHub confirms it.
    """
    claimed = merge_commit if merge_commit and _COMMIT.fullmatch(merge_commit) else None
    parent = await _fetch_first_parent(api, claimed, request) if claimed else None
    return BaseCommit(request.base_branch, parent or await _fetch_merge_base(api, request) or request.base_sha)
