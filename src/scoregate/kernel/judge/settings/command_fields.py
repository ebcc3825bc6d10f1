"""Settings of suites that are commands, and of the result files that they write."""

from __future__ import annotations

import shlex
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from scoregate.kernel.types.declarations.fields import ProjectGlobs, Table, Text, Texts, check_distinct_names

_SHELL_WORDS = {"&&", "||", "|", ";", "&", ">", ">>", "<"}
IMPORT_FORMATS = (
    "promptfoo",
    "inspect",
    "deepeval",
    "pydantic-evals",
    "rows",
    "lm-eval",
    "ctrf",
    "vitest",
    "evalite",
    "skill-benchmark",
)


def _split_command(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise ValueError(f"can't be split into arguments: {error}") from None
    if shell := _SHELL_WORDS.intersection(words):
        raise ValueError(f'has the shell operator {shell.pop()}; write it as ["sh", "-c", "…"]')
    return words


def _check_not_empty(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or not value[0]:
        raise ValueError("must name a program")
    return value


Words = Annotated[tuple[str, ...], BeforeValidator(_split_command), AfterValidator(_check_not_empty)]


def check_imports(values: tuple[str, ...]) -> tuple[str, ...]:
    """The result files as they are.

    Raises:
        ValueError: one is not named by its format and a path.
    """
    for value in values:
        word, _, file = value.partition(":")
        if word not in IMPORT_FORMATS or not file:
            raise ValueError(f"{value!r:.200} must be FORMAT:FILE, where FORMAT is one of {', '.join(IMPORT_FORMATS)}")
    return values


class RowSettings(Table):
    """The columns of files that are imported as `rows`. Nested values are named by paths, such as `doc.question`."""

    scores: Texts = ()
    """Columns with scores: names or globs. A column of a glob counts if it has a number, `true` or `false`."""
    case: Text | None = None
    """The column with the id of the case. Without it, a case is known by its input."""
    input: Texts = ()
    """The column with the input; several columns are one object."""
    output: Text | None = None
    """The column with the output."""
    expected: Text | None = None
    """The column with the expected output."""
    reason: Text | None = None
    """The column with the reason of a score, such as `{score}_reason`; `{score}` is the name of the score."""
    suite: Text | None = None
    """The column with the name of the suite. Without it, the file is one suite."""
    tags: Text | None = None
    """The column with tags: a list, or a text with commas."""
    cluster: Text | None = None
    """The column with the cluster: what cases that aren't independent have in common, such as their document."""
    error: Text | None = None
    """The column with the error of a case that failed to run; empty for the others."""
    repeats: bool = False
    """Whether further rows of a case are repeats of it. Without an id, a case is an input with its expected output."""


class Command(Table):
    """A suite that is a command, in any language."""

    name: Text
    """The name of the command in reports."""
    run: Words
    """The program and its arguments: a list, or one text that is split at spaces. There is no shell. A program without
    a path is searched first in the environment of the Python interpreter.
    """
    cwd: Text = "."
    """The folder in which the command runs, relative to the project."""
    junit: Texts = ()
    """JUnit reports that the command writes: paths or globs, relative to `cwd`."""
    junit_scores: Texts = ()
    """Globs of numeric properties in JUnit reports that are scores. Properties named `score.NAME` always are."""
    imports: Annotated[Texts, AfterValidator(check_imports)] = ()
    """Result files of other frameworks, as `FORMAT:FILE`, relative to `cwd`."""
    rows: RowSettings | None = None
    """The columns of files that are imported as `rows`."""
    inputs: ProjectGlobs = ()
    """Globs of all files that the command depends on, relative to the project, such as `prompts/**`; for `affected`."""


Commands = Annotated[tuple[Command, ...], AfterValidator(check_distinct_names)]
