"""The status of a commit that a command's run measures; jobs on comments don't appear among a commit's checks."""

from __future__ import annotations

from enum import StrEnum

from scoregate.kernel.job.github.client import Api
from scoregate.kernel.report.text import one_line

_LONGEST = 140  # GitHub's limit


class CommitState(StrEnum):
    """States of a commit; only `success` lets a required status pass."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"
    ERROR = "error"


async def set_status(
    api: Api, commit: str, state: CommitState, description: str, *, key: str, is_part: bool, url: str
) -> None:
    """Set the status of a commit.

    Args:
        api: the repository.
        commit: the commit.
        state: the state.
        description: one sentence.
        key: the key of the use.
        is_part: whether only some suites run. Such a run has a status of its own, so that it can't replace that of all.
        url: the page of the run.

    Raises:
        GitHubRefused: the status was not set.
    """
    context = f"scoregate ({key}{', some suites' if is_part else ''})"
    body = {"state": state.value, "context": context, "description": one_line(description, _LONGEST)}
    await api.post(f"statuses/{commit}", {**body, "target_url": url} if url.startswith("https://") else body)
