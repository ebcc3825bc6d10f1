"""What the reports of a job are about: a commit, the workflow's run that measured it, perhaps a pull request."""

from __future__ import annotations

from dataclasses import dataclass

from scoregate.ci.github.context import GitHub
from scoregate.ci.github.event import PullRequest, head_branch, head_sha, is_read_only, pull_request


@dataclass(frozen=True, slots=True)
class Subject:
    """What was measured.

    Args:
        commit: the head commit, never a merge commit. branch: its branch.
        run: the id of the workflow's run with its attempt. run_url: the page of that run.
        request: the pull request that it belongs to.
        read_only: the token may not write; a later job with more rights is to comment.
        measured_here: by this very run of the workflow, and not by another whose result is only told here.
    """

    commit: str
    branch: str
    run: str
    run_url: str
    request: PullRequest | None = None
    read_only: bool = False
    measured_here: bool = True


def subject_of(github: GitHub) -> Subject:
    """What the job itself measures."""
    return Subject(
        commit=head_sha(github),
        branch=head_branch(github),
        run=github.run,
        run_url=github.run_url,
        request=pull_request(github),
        read_only=is_read_only(github),
    )
