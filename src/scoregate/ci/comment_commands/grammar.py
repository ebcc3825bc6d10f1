"""The grammar of commands in comments. Nothing here reaches a shell; every part has a limit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import TypeAlias

from scoregate.core.records import record
from scoregate.errors import UsageError

PREFIX = "/scoregate"
LONGEST_COMMAND = 1_000
LONGEST_REASON = 500
MOST_SUITES = 20
MOST_REPEATS = 20
_LONGEST_SHOWN = 60
# Globs of names. No comma, quote or bracket, because they become the input `suite`.
_GLOB = re.compile(r"[\w*?][\w.*?:/+-]{0,99}")
_COMMIT = re.compile(r"@[0-9A-Fa-f]{7,64}")
_COUNT = re.compile(r"[0-9]{1,4}")
_ISSUE = re.compile(r"[\w#./:-]{1,200}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_RUN_USAGE = f"{PREFIX} run [SUITE …] [repeats=N] [@SHA]"
_RERUN_USAGE = f"{PREFIX} rerun-failed"
_ACCEPT_USAGE = f"{PREFIX} accept SUITE EVALUATOR until YYYY-MM-DD [at_most=DROP] [issue=ISSUE] because REASON"
_HELP_USAGE = f"{PREFIX} help"
USAGE = {
    _RUN_USAGE: "run the suites, or those that match a glob, on the pull request's newest commit, or on @SHA if it is "
    "still the newest",
    _RERUN_USAGE: "run the failed jobs of the newest commit again",
    _ACCEPT_USAGE: "print the entry that accepts a regression",
    _HELP_USAGE: "list the commands",
}
_SPACES = "For a space or another character in a name, write ? or *."
_NAMES = ("run", "rerun-failed", "accept", "help")


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
class HelpCommand:
    """`help`."""


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


@record
class RerunCommand:
    """`rerun-failed`."""


@record
class AcceptCommand:
    """`accept`.

    Args:
        suite: a glob of suites.
        evaluator: a glob of evaluators.
        until: the last day of the entry, as an ISO date in UTC.
        reason: why the regression is accepted.
        at_most: the largest accepted drop, in (0, 1]; None for the drop of the newest run.
        issue: an issue; may be empty.
    """

    suite: str
    evaluator: str
    until: str
    reason: str
    at_most: float | None = None
    issue: str = ""


Command: TypeAlias = HelpCommand | RunCommand | RerunCommand | AcceptCommand


def is_command(text: str) -> bool:
    """Whether a comment begins with the name of a command of scoregate."""
    return text.startswith(PREFIX) and not text[len(PREFIX) : len(PREFIX) + 1].strip()


def parse_command(text: str, *, today: str) -> Command:
    """Parse the command on the first line of a comment; the other lines are free text.

    Args:
        text: the comment.
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
    if name in ("", "help"):
        _refuse_extra_arguments(words, _HELP_USAGE)
        return HelpCommand()
    if name == "run":
        return _parse_run(words)
    if name == "rerun-failed":
        _refuse_extra_arguments(words, _RERUN_USAGE)
        return RerunCommand()
    if name == "accept":
        return _parse_accept(words, today)
    raise CommandRefused(f"there is no command {_show(name)}", advice=f"Commands are: {', '.join(_NAMES)}.")


def _parse_run(words: Sequence[str]) -> RunCommand:
    suites = list[str]()
    options = dict[str, str]()
    for word in words:
        name, equals, value = word.partition("=")
        if word.startswith("@"):
            _set_once(options, "@SHA", word, _COMMIT, _RUN_USAGE)
        elif equals and name == "repeats":
            _set_once(options, name, value, _COUNT, _RUN_USAGE)
        else:
            suites.append(_check_glob(word, _RUN_USAGE))
    if len(suites) > MOST_SUITES:
        raise CommandRefused(f"{len(suites)} suites are named; at most {MOST_SUITES} are possible", advice="Use globs.")
    repeats = int(options["repeats"]) if "repeats" in options else None
    if repeats is not None and not 1 <= repeats <= MOST_REPEATS:
        raise CommandRefused(f"repeats must be from 1 to {MOST_REPEATS}, not {repeats}")
    return RunCommand(tuple(suites), repeats, options.get("@SHA", "")[1:].lower())


def _parse_accept(words: Sequence[str], today: str) -> AcceptCommand:
    if "because" not in words:
        raise CommandRefused("`because` and a reason are missing", command=_ACCEPT_USAGE)
    position = words.index("because")
    head, reason = words[:position], " ".join(words[position + 1 :])
    if not reason or len(reason) > LONGEST_REASON:
        raise CommandRefused(f"the reason must have 1 to {LONGEST_REASON} characters", command=_ACCEPT_USAGE)
    if len(head) < 4 or head[2] != "until":
        raise CommandRefused("suite, evaluator or `until` and a day are missing", advice=_SPACES, command=_ACCEPT_USAGE)
    options = dict[str, str]()
    patterns = {"at_most": re.compile(r"[0-9.]{1,10}"), "issue": _ISSUE}
    for word in head[4:]:
        name, equals, value = word.partition("=")
        if not equals or name not in patterns:
            raise CommandRefused(f"{_show(word)} is not an argument", command=_ACCEPT_USAGE)
        _set_once(options, name, value, patterns[name], _ACCEPT_USAGE)
    return AcceptCommand(
        _check_glob(head[0], _ACCEPT_USAGE),
        _check_glob(head[1], _ACCEPT_USAGE),
        _check_day(head[3], today),
        reason,
        _parse_drop(options["at_most"]) if "at_most" in options else None,
        options.get("issue", ""),
    )


def _check_glob(word: str, usage: str) -> str:
    if not _GLOB.fullmatch(word):
        raise CommandRefused(f"{_show(word)} is not a glob of names", advice=_SPACES, command=usage)
    return word


def _check_day(text: str, today: str) -> str:
    try:
        day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        day = None
    if day is None:
        raise CommandRefused(f"{_show(text)} is not a day; write it as 2026-12-31")
    if text < today:
        raise CommandRefused(f"{text} is over", advice=f"Name a day from {today} (UTC) on.")
    return text


def _parse_drop(text: str) -> float:
    try:
        drop = float(text)
    except ValueError:
        drop = 0.0
    if not 0 < drop <= 1:
        raise CommandRefused(f"at_most must be above 0 and at most 1, not {_show(text)}")
    return drop


def _set_once(options: dict[str, str], name: str, value: str, pattern: re.Pattern[str], usage: str) -> None:
    if name in options:
        raise CommandRefused(f"{name} is given twice")
    if not pattern.fullmatch(value):
        raise CommandRefused(f"{_show(value)} is not a value for {name}", command=usage)
    options[name] = value


def _refuse_extra_arguments(words: Sequence[str], usage: str) -> None:
    if words:
        raise CommandRefused(f"{_show(words[0])} is not an argument", command=usage)


def _show(word: str) -> str:
    return repr(word if len(word) <= _LONGEST_SHOWN else f"{word[:_LONGEST_SHOWN]}…")
