"""`/scoregate run`: approve one commit of a pull request for a run that may use keys."""

from __future__ import annotations

from collections.abc import Mapping

from scoregate.ci.comment_commands.grammar import PREFIX, CommandRefused, RunCommand
from scoregate.ci.github.context import PullRequest

NO_RUN: Mapping[str, str] = {"approved": "", "commit": "", "suite": "", "repeats": ""}
_SHOWN_SHA = 12


def approve_run(command: RunCommand, request: PullRequest, repository: str, *, labelled: str = "") -> Mapping[str, str]:
    """The outputs that start the run.

    Args:
        command: the command.
        request: the pull request, as GitHub has it now.
        repository: the repository of the job.
        labelled: the head when a label asked for the run; empty for a comment.

    Raises:
        CommandRefused: the commit isn't the newest one, or is a fork's and was not named.
    """
    head, wanted = request.head_sha, command.commit or labelled
    if request.head_repository is None:
        raise CommandRefused("the repository of the pull request's branch was deleted")
    if wanted and not head.startswith(wanted):
        raise CommandRefused(
            f"the newest commit of this pull request is {head[:_SHOWN_SHA]}, not {wanted[:_SHOWN_SHA]}",
            advice="Review it.",
            command=f"{PREFIX} run @{head[:_SHOWN_SHA]}",
        )
    if request.is_fork_of(repository) and not command.commit:
        raise CommandRefused(
            "the run of a fork's code needs the commit that you reviewed, since its author can push at any time",
            advice="Review it.",
            command=f"{PREFIX} run @{head[:_SHOWN_SHA]}",
        )
    repeats = "" if command.repeats is None else str(command.repeats)
    return {
        "approved": f"{request.number}@{head}",
        "commit": head,
        "suite": "\n".join(command.suites),
        "repeats": repeats,
    }
