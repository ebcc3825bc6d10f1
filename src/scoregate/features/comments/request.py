"""Who asks for what on which pull request, read from GitHub. The event only names the comment or the label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.errors import UsageError
from scoregate.features.comments.grammar import is_command
from scoregate.kernel.job.comment_command import PREFIX
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import GitHubJob
from scoregate.kernel.job.github.labels import LabelRefused, verify_label
from scoregate.kernel.job.github.responses import number_at, text_at
from scoregate.kernel.job.github.rights import is_user
from scoregate.kernel.types.records import record

COMMENT_EVENT, LABEL_EVENT = "issue_comment", "pull_request"
RUN_LABEL = "scoregate: run"
_ADVICE = "The job runs on `issue_comment` (created), or on `pull_request` (labeled): see docs/guides/commands.md."


@record
class CommandRequest:
    """A command of a user.

    Args:
        number: the number of the issue or pull request.
        login: the user.
        text: the comment, or the command that a label means.
        comment: the id of the comment; None for a label.
        commit: the head of the pull request when the label was set; empty for a comment.
    """

    number: int
    login: str
    text: str
    comment: int | None = None
    commit: str = ""


async def read_request(github: GitHubJob, api: Api) -> CommandRequest | None:
    """The command of the job's event; None if the event is not a command.

    Raises:
        UsageError: the comment isn't what the event says, was edited, or its author is not a user; or another event.
        GitHubRefused: GitHub can't be asked.
    """
    if github.event_name == COMMENT_EVENT and github.event.get("action") == "created":
        return await _read_comment(github.event, api)
    if github.event_name == LABEL_EVENT and github.event.get("action") == "labeled":
        return await _read_label(github.event, api)
    action = str(github.event.get("action") or "")
    raise UsageError(
        f"{github.event_name} {action[:40]} is not an event for commands".replace("  ", " "), advice=_ADVICE
    )


async def _read_comment(event: Mapping[str, Any], api: Api) -> CommandRequest | None:
    text, number = text_at(event, "comment", "body"), number_at(event, "issue", "number")
    if not is_command(text):
        return None
    comment = await api.get(f"issues/comments/{number_at(event, 'comment', 'id')}")
    place = f"/repos/{api.repository}/issues/{number}".lower()  # GitHub's names have no case
    if not text_at(comment, "issue_url").lower().endswith(place):
        raise UsageError("the comment is on another issue than the event says")
    if comment.get("updated_at") != comment.get("created_at") or comment.get("body") != text:
        raise UsageError("the comment was edited", advice="Write the command in a new comment.")
    if not is_user(comment.get("user")):
        raise UsageError("the author of the comment is not a user, so it is not a command")
    login = text_at(comment, "user", "login")
    if login != text_at(event, "comment", "user", "login"):
        raise UsageError("the comment is by another user than the event says")
    return CommandRequest(number, login, text, number_at(comment, "id"))


async def _read_label(event: Mapping[str, Any], api: Api) -> CommandRequest | None:
    if text_at(event, "label", "name").casefold() != RUN_LABEL:
        return None
    number = number_at(event, "pull_request", "number")
    try:
        label = await verify_label(api, number, RUN_LABEL)
    except LabelRefused as refused:
        raise UsageError(f"the label `{RUN_LABEL}` doesn't count: {refused}") from None
    return CommandRequest(number, label.login, f"{PREFIX} run", commit=text_at(event, "pull_request", "head", "sha"))
