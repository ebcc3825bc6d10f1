"""Refuse to run a fork's code in a job that has this repository's rights."""

from __future__ import annotations

from scoregate.ci.github.context import GitHub
from scoregate.ci.github.event import pull_request
from scoregate.errors import UsageError

_ADVICE = (
    "Such a job has a token that may write, and secrets: whoever opens a pull request could take them. Run suites on "
    "`pull_request`, and comment from a second workflow on `workflow_run` with `command: publish`; the README has both."
)


def refuse_foreign_code(github: GitHub, head: str | None) -> None:
    """Check what is checked out: where a fork is about, nothing but the commit that the job itself is of.

    The fork's branch may have moved since the event, so that its commits cannot be told by their hashes.

    Args:
        head: the commit that is checked out; None where that is no repository.

    Raises:
        UsageError: it is a fork's, on an event that gives jobs the rights of this repository.
    """
    if _is_foreign(github, head):
        raise UsageError(f"a fork's commit is checked out in a job on {github.event_name}", advice=_ADVICE)


def _is_foreign(github: GitHub, head: str | None) -> bool:
    if head is None or head == github.sha:
        return False
    if github.event_name == "pull_request_target":
        request = pull_request(github)
        return request is not None and request.is_fork_of(github.repository)
    if github.event_name == "workflow_run":
        return _owner_of(github.event.get("workflow_run")) != github.repository
    return False


def _owner_of(run: object) -> object:
    """The repository that a workflow's run has its commit from."""
    repository = run.get("head_repository") if isinstance(run, dict) else None
    return repository.get("full_name") if isinstance(repository, dict) else None
