"""Which commit a job's scores are to be compared with: the one that its changes are tested on top of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from scoregate.ci import git
from scoregate.ci.github.answers import rows_at, text_at
from scoregate.ci.github.api import Api
from scoregate.ci.github.context import GitHub
from scoregate.ci.github.event import PullRequest, default_branch, merge_group_base, pull_request, pushed_before
from scoregate.errors import GitHubRefused

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Base:
    """A commit and its branch; without a commit, the newest of the branch will do."""

    branch: str
    commit: str | None = None


async def base_of(github: GitHub, root: Path, api: Api | None, *, branch: str | None = None) -> Base:
    """The base of the commit that is checked out.

    Args:
        root: the checked-out repository; its history need not be there. api: None where there is no token.
        branch: of the base, for events that do not tell; the default branch where nobody does.
    """
    if (request := pull_request(github)) is not None:
        return Base(request.base_branch, await _under(request, github, root, api=api))
    if (group := merge_group_base(github)) is not None:
        commit, name = group
        return Base(name or branch or default_branch(github), commit)
    if (before := pushed_before(github)) is not None:
        return Base(github.ref_name, before)
    return Base(branch or default_branch(github))


async def _under(request: PullRequest, github: GitHub, root: Path, *, api: Api | None) -> str:
    """Of a pull request: the first parent of the merge commit that was checked out, else where it left its base."""
    head = await git.head_commit(root)
    parents = await git.parents(root, head) if head else ()
    if head == github.sha and len(parents) == 2 and parents[1] == request.head_sha:
        return parents[0]
    if head is None and (merged := await _asked_parents(api, github.sha, request)):
        return merged
    left = await git.merge_base(root, request.base_sha, head) if head else None
    return left or await _asked_merge_base(api, request) or request.base_sha


async def _asked_parents(api: Api | None, commit: str, request: PullRequest) -> str | None:
    """The first parent of a merge commit, as GitHub knows it."""
    if api is None:
        return None
    try:
        found = await api.get(f"git/commits/{commit}")
        parents = [text_at(each, "sha") for each in rows_at(found, "parents")]
    except GitHubRefused:
        return None
    return parents[0] if len(parents) == 2 and parents[1] == request.head_sha else None


async def _asked_merge_base(api: Api | None, request: PullRequest) -> str | None:
    if api is None:
        return None
    try:
        found = await api.get(f"compare/{request.base_sha}...{request.head_sha}")
        return text_at(found, "merge_base_commit", "sha")
    except GitHubRefused:
        return None


async def merged_base(api: Api, request: PullRequest, *, merge_commit: str | None) -> Base:
    """The base of a pull request that is not checked out, as GitHub alone knows it.

    Args:
        merge_commit: what somebody claims to have tested; believed as far as GitHub says the same.
    """
    claimed = merge_commit if merge_commit and _COMMIT.fullmatch(merge_commit) else None
    parent = await _asked_parents(api, claimed, request) if claimed else None
    return Base(request.base_branch, parent or await _asked_merge_base(api, request) or request.base_sha)
