"""Commands in comments on pull requests, as features declare them. Nothing of them reaches a shell; all has a limit."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from markupsafe import Markup

from scoregate.errors import ScoregateError, UsageError
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import Connection, PullRequest
from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.types.runs.run import Run
    from scoregate.kernel.types.slots import Slots

PREFIX = "/scoregate"
CompareRun: TypeAlias = "Callable[[JobContext, Run, Slots], Awaitable[Comparison]]"
DONE, STARTED = "+1", "rocket"
SPACES = "For a space or another character in a name, write ? or *."
_LONGEST_SHOWN = 60
# Globs of names. No comma, quote or bracket, because they become the input `suite`.
_GLOB = re.compile(r"[\w*?][\w.*?:/+-]{0,99}")


class CommandRefused(UsageError):
    """A command that is not carried out.

    Args:
        message: why.
        advice: what to do.
        command: a command to write instead.
    """

    def __init__(self, message: str, *, advice: str = "", command: str = "") -> None:
        super().__init__(message, advice=" ".join(filter(None, (advice, command and f"Write: {command}"))))
        self.hint = advice
        self.command = command


@record
class CommandContext:
    """Where a command is carried out. Nothing of the repository is checked out.

    Args:
        root: the working directory.
        environ: the environment of the job.
        connection: the connection to GitHub.
        api: its API.
        redact: removes secrets from what is written.
        kinds: the commands that can be written.
        compare: compares a run of the pull request with its baseline, as the judgement does.
        app_token: the token of a GitHub App that commits accepted regressions; empty without one.
    """

    root: Path
    environ: Mapping[str, str]
    connection: Connection
    api: Api
    redact: Redactor
    kinds: Sequence[CommandKind]
    compare: CompareRun
    app_token: str = ""


@record
class CommandCall:
    """A command on an open pull request, by someone with the right to write.

    Args:
        context: where it is carried out.
        head: the pull request, as GitHub has it now.
        branch: its branch.
        login: who asks.
        labelled: the head when a label asked; empty for a comment.
    """

    context: CommandContext
    head: PullRequest
    branch: str
    login: str
    labelled: str = ""


@record
class Answer:
    """The answer to a command.

    Args:
        text: the answer, as Markdown that was made harmless.
        outputs: the outputs of the step; those of a run start it.
        reaction: the reaction to the comment.
        refusal: why nothing was done; None if it was.
        warnings: what could not be delivered.
    """

    text: Markup
    outputs: Mapping[str, str] = field(default_factory=dict)
    reaction: str = DONE
    refusal: ScoregateError | None = None
    warnings: tuple[str, ...] = ()


class Command(Protocol):
    """A command with its arguments."""

    async def carry_out(self, call: CommandCall) -> Answer:
        """Do what it says.

        Raises:
            UsageError: it is refused; the message is the answer.
            SettingsError: the settings that it needs are not valid.
            RecordError: a stored run can't be read.
            GitHubRefused: GitHub can't be asked.
        """
        ...


@record
class CommandKind:
    """A command that can be written.

    Attributes:
        name: its name.
        usage: how it is written.
        text: what it does.
        parse: its arguments, from the words after the name and the current day in UTC; raises CommandRefused.
    """

    name: str
    usage: str
    text: str
    parse: Callable[[Sequence[str], str], Command]


def check_glob(word: str, usage: str) -> str:
    """A glob of names.

    Raises:
        CommandRefused: it is none.
    """
    if not _GLOB.fullmatch(word):
        raise CommandRefused(f"{quote_word(word)} is not a glob of names", advice=SPACES, command=usage)
    return word


def set_once(options: dict[str, str], name: str, value: str, pattern: re.Pattern[str], usage: str) -> None:
    """Set an argument.

    Raises:
        CommandRefused: it is set already, or the value doesn't match.
    """
    if name in options:
        raise CommandRefused(f"{name} is given twice")
    if not pattern.fullmatch(value):
        raise CommandRefused(f"{quote_word(value)} is not a value for {name}", command=usage)
    options[name] = value


def refuse_extra_arguments(words: Sequence[str], usage: str) -> None:
    """Refuse a command that takes no arguments, but has some.

    Raises:
        CommandRefused: it has.
    """
    if words:
        raise CommandRefused(f"{quote_word(words[0])} is not an argument", command=usage)


def quote_word(word: str) -> str:
    """A word of a command for a message."""
    return repr(word if len(word) <= _LONGEST_SHOWN else f"{word[:_LONGEST_SHOWN]}…")
