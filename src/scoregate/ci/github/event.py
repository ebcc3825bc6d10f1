"""What the event says: which pull request, which commit the reports belong to, whether the token may write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scoregate.ci.github.answers import number_at, text_at
from scoregate.ci.github.context import GitHub

_NO_COMMIT = "0" * 40
_OF_PULL_REQUESTS = ("pull_request", "pull_request_target", "pull_request_review")


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request. `head_repository` is None where the fork is gone."""

    number: int
    head_sha: str
    head_repository: str | None
    base_sha: str
    base_branch: str

    def is_fork_of(self, repository: str) -> bool:
        """Whether its commits come from another repository."""
        return self.head_repository != repository


def pull_request(github: GitHub) -> PullRequest | None:
    """The pull request that the event is about; None where there is none."""
    if github.event_name not in _OF_PULL_REQUESTS or not isinstance(found := github.event.get("pull_request"), dict):
        return None
    return read_pull_request(found)


def read_pull_request(found: Mapping[str, Any]) -> PullRequest:
    """A pull request as the API and events describe it.

    Raises:
        GitHubRefused: it is not described so.
    """
    repository = text_at(found, "head", "repo", "full_name") if _inner_of(_inner_of(found, "head"), "repo") else None
    return PullRequest(
        number_at(found, "number"),
        text_at(found, "head", "sha"),
        repository,
        text_at(found, "base", "sha"),
        text_at(found, "base", "ref"),
    )


def head_sha(github: GitHub) -> str:
    """The commit that reports belong to: the head of the pull request, never the merge commit."""
    if (request := pull_request(github)) is not None:
        return request.head_sha
    if github.event_name == "merge_group":
        return str(_inner(github, "merge_group").get("head_sha") or github.sha)
    return github.sha


def head_branch(github: GitHub) -> str:
    """The branch whose commit is run."""
    if pull_request(github) is not None:
        head = _inner_of(_inner(github, "pull_request"), "head")
        return str(head.get("ref") or github.ref_name)
    return github.ref_name


def default_branch(github: GitHub) -> str:
    """The repository's default branch, as the event tells it; what the clock starts runs there."""
    assumed = github.ref_name if github.event_name == "schedule" else ""
    return str(_inner(github, "repository").get("default_branch") or assumed or "main")


def merge_group_base(github: GitHub) -> tuple[str, str] | None:
    """Of a merge queue's event, the commit that the group is built on, and its branch."""
    group = _inner(github, "merge_group")
    if github.event_name != "merge_group" or not group.get("base_sha"):
        return None
    return str(group["base_sha"]), str(group.get("base_ref") or "").removeprefix("refs/heads/")


def pushed_before(github: GitHub) -> str | None:
    """Of a push, the commit that the branch was at; None for a new branch and other events."""
    before = github.event.get("before") if github.event_name == "push" else None
    return before if isinstance(before, str) and before != _NO_COMMIT else None


def is_read_only(github: GitHub) -> bool:
    """Whether GitHub gives this event a token that may not write, and no secrets: a fork's or Dependabot's."""
    request = pull_request(github)
    if request is None or github.event_name == "pull_request_target":
        return False
    return request.is_fork_of(github.repository) or github.actor == "dependabot[bot]"


def _inner(github: GitHub, name: str) -> Mapping[str, Any]:
    return _inner_of(github.event, name)


def _inner_of(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = table.get(name)
    return found if isinstance(found, dict) else {}
