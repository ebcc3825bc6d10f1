"""Suites that are commands: what is started, and what it leaves behind."""

from __future__ import annotations

import shlex
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from scoregate.ci.settings.fields import Table, Text, Texts, distinct

_SHELL_WORDS = {"&&", "||", "|", ";", "&", ">", ">>", "<"}
IMPORTED = ("promptfoo", "inspect", "deepeval", "pydantic-evals")


def _words(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise ValueError(f"cannot be split into words: {error}") from None
    if shell := _SHELL_WORDS.intersection(words):
        raise ValueError(f'holds the shell\'s {shell.pop()}; write it as ["sh", "-c", "…"]')
    return words


def _not_empty(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or not value[0]:
        raise ValueError("must name a program")
    return value


Words = Annotated[tuple[str, ...], BeforeValidator(_words), AfterValidator(_not_empty)]


def imported(values: tuple[str, ...]) -> tuple[str, ...]:
    """The result files as they are.

    Raises:
        ValueError: one is not named by its format and a path.
    """
    for value in values:
        word, _, file = value.partition(":")
        if word not in IMPORTED or not file:
            raise ValueError(f"{value!r:.200} must be FORMAT:FILE, where FORMAT is one of {', '.join(IMPORTED)}")
    return values


class Command(Table):
    """A suite that is a command, in any language.

    `cwd` is relative to the root. `junit` and `imports` (as `FORMAT:FILE`) are result files that it leaves behind,
    paths or globs relative to `cwd`.
    """

    name: Text
    run: Words
    cwd: Text = "."
    junit: Texts = ()
    imports: Annotated[Texts, AfterValidator(imported)] = ()


Commands = Annotated[tuple[Command, ...], AfterValidator(distinct)]
