"""`/scoregate run`: the commit that a run in the next job measures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from scoregate.errors import GitHubRefused
from scoregate.features.comments.status import CommitState, set_status
from scoregate.kernel.job.comment_command import (
    PREFIX,
    STARTED,
    Answer,
    CommandCall,
    CommandKind,
    CommandRefused,
    check_glob,
    set_once,
)
from scoregate.kernel.job.github.context import PullRequest
from scoregate.kernel.report.markdown import code, link
from scoregate.kernel.types.records import record

NO_RUN: Mapping[str, str] = {"approved": "", "commit": "", "suite": "", "repeats": ""}
MOST_SUITES = 20
MOST_REPEATS = 20
_SHOWN_SHA = 12
_COMMIT = re.compile(r"@[0-9A-Fa-f]{7,64}")
_COUNT = re.compile(r"[0-9]{1,4}")
_USAGE = f"{PREFIX} run [SUITE …] [repeats=N] [@SHA]"


@record
class RunCommand:
    """`run`.

    Args:
        suites: globs of suites; empty for all.
        repeats: how often each case runs; None to leave it to the settings.
        commit: the beginning of the commit's SHA; empty for the newest.
    """

    suites: tuple[str, ...] = ()
    repeats: int | None = None
    commit: str = ""

    async def carry_out(self, call: CommandCall) -> Answer:
        """Name the commit for the next job, and set its status."""
        github = call.context.connection.github
        commit = call.head.head_sha
        outputs = approve_run(self, call.head, github.repository, labelled=call.labelled)
        warnings = tuple[str, ...]()
        try:
            await set_status(
                call.context.api,
                commit,
                CommitState.PENDING,
                f"started by {call.login}",
                key=call.context.connection.key,
                is_part=bool(self.suites),
                url=github.run_url,
            )
        except GitHubRefused as refused:
            warnings = (f"cannot set the status: {refused}",)
        subject = ", ".join(map(code, self.suites)) or Markup("All suites")
        repeats = f", {self.repeats} times each" if self.repeats else ""
        log = link(Markup("The log"), github.run_url)
        text = Markup(f"{subject} run on {code(commit[:7])}{repeats}. {log} shows the progress.")
        return Answer(text, outputs, STARTED, warnings=warnings)


def _parse(words: Sequence[str], _today: str) -> RunCommand:
    suites = list[str]()
    options = dict[str, str]()
    for word in words:
        name, equals, value = word.partition("=")
        if word.startswith("@"):
            set_once(options, "@SHA", word, _COMMIT, _USAGE)
        elif equals and name == "repeats":
            set_once(options, name, value, _COUNT, _USAGE)
        else:
            suites.append(check_glob(word, _USAGE))
    if len(suites) > MOST_SUITES:
        raise CommandRefused(f"{len(suites)} suites are named; at most {MOST_SUITES} are possible", advice="Use globs.")
    repeats = int(options["repeats"]) if "repeats" in options else None
    if repeats is not None and not 1 <= repeats <= MOST_REPEATS:
        raise CommandRefused(f"repeats must be from 1 to {MOST_REPEATS}, not {repeats}")
    return RunCommand(tuple(suites), repeats, options.get("@SHA", "")[1:].lower())


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


RUN = CommandKind(
    "run",
    _USAGE,
    "run the suites, or those that match a glob, on the pull request's newest commit, or on @SHA if it is still the "
    "newest",
    _parse,
)
