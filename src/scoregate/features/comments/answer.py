"""Answer the command of a comment or a label: verify who asks, react, do it or refuse it, and answer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote

from markupsafe import Markup

from scoregate.errors import GitHubRefused, RecordError, ScoregateError, SettingsError, UsageError
from scoregate.features.comments.grammar import HELP_USAGE, HelpCommand, parse_command
from scoregate.features.comments.request import RUN_LABEL, CommandRequest, read_request
from scoregate.kernel.job.comment_command import Answer, CommandCall, CommandContext, CommandKind, CommandRefused
from scoregate.kernel.job.github.context import read_pull_request
from scoregate.kernel.job.github.responses import text_at
from scoregate.kernel.job.github.rights import may_write
from scoregate.kernel.job.publish.answers import put_answer
from scoregate.kernel.report.markdown import code, prose

_MISSING = 404
_EYES, _CONFUSED = "eyes", "confused"


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
    command = parse_command(request.text, context.kinds, today=time.strftime("%Y-%m-%d", time.gmtime()))
    if isinstance(command, HelpCommand):
        return Answer(_list_commands(context.kinds))
    if text_at(pull, "state") != "open":
        raise CommandRefused("this pull request is closed", advice="Reopen it, and repeat the command.")
    login, branch = request.login, text_at(pull, "head", "ref")
    return await command.carry_out(CommandCall(context, read_pull_request(pull), branch, login, request.commit))


def _list_commands(kinds: Sequence[CommandKind]) -> Markup:
    texts = [*((kind.usage, kind.text) for kind in kinds), (HELP_USAGE, "list the commands")]
    rows = "\n".join(f"| {code(usage)} | {prose(text)} |" for usage, text in texts)
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
