"""The grammar of commands in comments."""

from __future__ import annotations

from collections.abc import Sequence

from scoregate.kernel.job.comment_command import (
    PREFIX,
    Command,
    CommandKind,
    CommandRefused,
    quote_word,
    refuse_extra_arguments,
)
from scoregate.kernel.types.records import record

LONGEST_COMMAND = 1_000
HELP = "help"
HELP_USAGE = f"{PREFIX} {HELP}"


@record
class HelpCommand:
    """`help`."""


def is_command(text: str) -> bool:
    """Whether a comment begins with the name of a command of scoregate."""
    return text.startswith(PREFIX) and not text[len(PREFIX) : len(PREFIX) + 1].strip()


def parse_command(text: str, kinds: Sequence[CommandKind], *, today: str) -> Command | HelpCommand:
    """Parse the command on the first line of a comment; the other lines are free text.

    Args:
        text: the comment.
        kinds: the commands that can be written.
        today: the current day in UTC, as an ISO date.

    Raises:
        CommandRefused: the command is unknown, or an argument is not valid.
    """
    line, *others = text.splitlines() or [""]
    if any(is_command(other) for other in others):
        raise CommandRefused("one comment can have one command", advice="Write one comment for each.")
    if len(line) > LONGEST_COMMAND:
        raise CommandRefused(f"the command has {len(line):,} characters; at most {LONGEST_COMMAND:,} are possible")
    if not line.replace("\t", " ").isprintable():
        raise CommandRefused("the command has invisible characters")
    name, *words = line.split()[1:] or [""]
    if name in ("", HELP):
        refuse_extra_arguments(words, HELP_USAGE)
        return HelpCommand()
    for kind in kinds:
        if kind.name == name:
            return kind.parse(words, today)
    names = ", ".join([*(kind.name for kind in kinds), HELP])
    raise CommandRefused(f"there is no command {quote_word(name)}", advice=f"Commands are: {names}.")
