"""Answer the command of a comment or a label: verify who asks, react, do it or refuse it, and answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import field, replace
from urllib.parse import quote

from markupsafe import Markup

from scoregate.ci.comment_commands.accept import accept_regressions
from scoregate.ci.comment_commands.approve import NO_RUN, approve_run
from scoregate.ci.comment_commands.context import CommandContext
from scoregate.ci.comment_commands.grammar import (
    USAGE,
    AcceptCommand,
    CommandRefused,
    HelpCommand,
    RerunCommand,
    RunCommand,
    parse_command,
)
from scoregate.ci.comment_commands.request import RUN_LABEL, CommandRequest, read_request
from scoregate.ci.comment_commands.rerun import rerun_failed_jobs
from scoregate.ci.comment_commands.status import CommitState, set_status
from scoregate.ci.github.context import PullRequest, read_pull_request
from scoregate.ci.github.responses import text_at
from scoregate.ci.github.rights import may_write
from scoregate.ci.publish.answers import put_answer
from scoregate.ci.report.markdown import code, link, prose
from scoregate.core.records import record
from scoregate.errors import GitHubRefused, RecordError, ScoregateError, SettingsError, UsageError

_MISSING = 404
_EYES, _ROCKET, _DONE, _CONFUSED = "eyes", "rocket", "+1", "confused"


@record
class Answer:
    """The answer to a command.

    Args:
        text: the answer, as Markdown that was made harmless.
        outputs: the outputs of the step; those of `approve_run` start a run.
        reaction: the reaction to the comment.
        refusal: why nothing was done; None if it was.
        warnings: what could not be delivered.
    """

    text: Markup
    outputs: Mapping[str, str] = field(default_factory=lambda: dict(NO_RUN))
    reaction: str = _DONE
    refusal: ScoregateError | None = None
    warnings: tuple[str, ...] = ()


async def answer_event(context: CommandContext) -> Answer | None:
    """Answer the command of the job's event; None if it is not a command.

    Raises:
        UsageError: the event is not valid, so no answer is possible.
        GitHubRefused: GitHub can't be asked.
    """
    request = await read_request(context.connection.github, context.api)
    if request is None:
        return None
    warnings = await _react(context, request, _EYES)
    is_writer = await may_write(context.api, request.login)
    pull = None
    try:
        pull = await _read_pull_request(context, request.number)
        answer = await _carry_out(context, request, pull, is_writer=is_writer)
    except (UsageError, SettingsError, RecordError) as error:
        answer = Answer(_format_refusal(error), reaction=_CONFUSED, refusal=error)
    warnings += await _react(context, request, answer.reaction)
    if pull is not None:
        warnings += await _publish(context, request, answer, is_writer=is_writer)
    return replace(answer, warnings=(*answer.warnings, *warnings))


async def _read_pull_request(context: CommandContext, number: int) -> Mapping[str, object]:
    try:
        pull: Mapping[str, object] = await context.api.get(f"pulls/{number}")
    except GitHubRefused as refused:
        if refused.status == _MISSING:
            raise CommandRefused(f"{number} is not a pull request of {context.api.repository}") from None
        raise
    return pull


async def _carry_out(
    context: CommandContext, request: CommandRequest, pull: Mapping[str, object], *, is_writer: bool
) -> Answer:
    """Carry out the command.

    Raises:
        UsageError: it is refused; the message is the answer.
        GitHubRefused: GitHub can't be asked.
    """
    if not is_writer:
        raise CommandRefused(
            f"commands need write access to {context.api.repository}, which {request.login} doesn't have"
        )
    command = parse_command(request.text, today=time.strftime("%Y-%m-%d", time.gmtime()))
    if isinstance(command, HelpCommand):
        return Answer(_list_commands())
    if text_at(pull, "state") != "open":
        raise CommandRefused("this pull request is closed", advice="Reopen it, and repeat the command.")
    head = read_pull_request(pull)
    if isinstance(command, RunCommand):
        return await _start_run(context, request, command, head)
    if isinstance(command, RerunCommand):
        runs = await rerun_failed_jobs(context.api, head.head_sha, context.connection.key)
        links = ", ".join(link(prose(str(run)), f"{_runs_url(context)}/{run}") for run in runs)
        return Answer(Markup(f"The failed jobs of {code(head.head_sha[:7])} run again: {links}."), reaction=_ROCKET)
    assert isinstance(command, AcceptCommand)
    return Answer(await accept_regressions(context, pull, head, command, login=request.login))


async def _start_run(
    context: CommandContext, request: CommandRequest, command: RunCommand, head: PullRequest
) -> Answer:
    github = context.connection.github
    outputs = approve_run(command, head, github.repository, labelled=request.commit)
    warnings = tuple[str, ...]()
    try:
        await set_status(
            context.api,
            head.head_sha,
            CommitState.PENDING,
            f"started by {request.login}",
            key=context.connection.key,
            is_part=bool(command.suites),
            url=github.run_url,
        )
    except GitHubRefused as refused:
        warnings = (f"cannot set the status: {refused}",)
    subject = ", ".join(map(code, command.suites)) or Markup("All suites")
    repeats = f", {command.repeats} times each" if command.repeats else ""
    log = link(Markup("The log"), github.run_url)
    text = Markup(f"{subject} run on {code(head.head_sha[:7])}{repeats}. {log} shows the progress.")
    return Answer(text, outputs, _ROCKET, warnings=warnings)


def _runs_url(context: CommandContext) -> str:
    return f"{context.connection.github.repository_url}/actions/runs"


def _list_commands() -> Markup:
    rows = "\n".join(f"| {code(usage)} | {prose(text)} |" for usage, text in USAGE.items())
    return Markup(f"| Command | What it does |\n|:--|:--|\n{rows}")


def _format_refusal(error: ScoregateError) -> Markup:
    hint, command = (error.hint, error.command) if isinstance(error, CommandRefused) else (error.advice, "")
    parts = [f"{prose(error.message[:1].upper() + error.message[1:])}.", str(prose(hint)) if hint else ""]
    parts += [f"Write: {code(command)}"] if command else []
    return Markup(" ".join(filter(None, parts)))


async def _react(context: CommandContext, request: CommandRequest, reaction: str) -> tuple[str, ...]:
    """React to the comment; remove a label, so that it can be set again once it was read."""
    try:
        if request.comment is not None:
            await context.api.post(f"issues/comments/{request.comment}/reactions", {"content": reaction})
        elif reaction != _EYES:
            await context.api.delete(f"issues/{request.number}/labels/{quote(RUN_LABEL)}")
    except GitHubRefused as refused:
        return (f"cannot react to the command: {refused}",)
    return ()


async def _publish(
    context: CommandContext, request: CommandRequest, answer: Answer, *, is_writer: bool
) -> tuple[str, ...]:
    """Write the answer to the comment on the pull request."""
    line = request.text.splitlines()[0]
    shown = code(line) if request.comment is not None else Markup(f"the label {code(RUN_LABEL)}")
    text = f"**{prose(request.login)}** · {shown}\n\n{answer.text}"
    try:
        await put_answer(
            context.api,
            request.number,
            context.connection.key,
            context.redact.text(text),
            is_writer=is_writer,
            graphql_url=context.connection.github.graphql_url,
        )
    except GitHubRefused as refused:
        return (f"cannot write the answer: {refused}",)
    return ()
