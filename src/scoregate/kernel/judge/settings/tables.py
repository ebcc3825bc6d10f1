"""The tables of settings that describe agents, commands, test configs and scorers."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from math import isfinite
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from scoregate.kernel.types.declarations.fields import (
    Count,
    Factor,
    NonNegativeInt,
    Number,
    ProjectGlobs,
    Rate,
    Seconds,
    Table,
    Text,
    Texts,
    check_distinct_names,
)
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.runs.policy import EvaluatorCriteria
from scoregate.kernel.types.runs.score_rules import describe_wrong_bound

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


AgentPreset: TypeAlias = Literal["claude", "codex", "gemini", "opencode", "copilot"]
EventFormat: TypeAlias = Literal["claude", "codex", "gemini", "opencode", "copilot", "text"]
WORKTREE = "worktree"
# Where an agent looks for the skills of a project.
_SKILL_FOLDERS = {"claude": ".claude/skills", "gemini": ".gemini/skills", "opencode": ".opencode/skills"}
_COMMON_FOLDER = ".agents/skills"


def _check_inside(value: str) -> str:
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or "\0" in value:
        raise ValueError("must be a path in the project, such as AGENTS.md")
    return os.path.normpath(value)


ProjectPath = Annotated[Text, AfterValidator(_check_inside)]


def _check_paths(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_check_inside, values))


class AgentSettings(Table):
    """The agent that skills and other files for agents are measured with."""

    preset: AgentPreset | None = None
    """A known agent: its command line, and the format of its events."""
    command: Words | None = None
    """The program and its arguments, with `{prompt}` where the prompt belongs. Without `{prompt}`, the agent reads it
    from its standard input. It replaces that of `preset`.
    """
    format: EventFormat | None = None
    """The format of the events that `command` prints: the name of a preset, or `text` if it prints its answer. Without
    it: that of `preset`, else `text`.
    """
    timeout: Seconds = 600.0
    """Seconds until a trial is killed."""
    max_steps: NonNegativeInt | None = None
    """The most tool calls of a trial. One more, and it is killed."""
    max_cost: Factor | None = None
    """The most US dollars of a trial, as the agent reports them."""
    network: bool = True
    """`false` takes the network away from the agent, where Linux allows it; elsewhere no case runs."""
    workspace: ProjectPath | None = None
    """The folder that each trial gets a fresh copy of. `worktree`: all files of the project that git doesn't ignore.
    Without it: an empty folder.
    """
    skills: ProjectPath | None = None
    """The folder in the workspace where the agent looks for skills. Without it: that of the preset or the format, such
    as `.claude/skills`, else `.agents/skills`.
    """
    concurrency: Count = 4
    """How many trials of a suite run at a time."""

    @model_validator(mode="after")
    def _check_program(self) -> Self:
        if self.preset is None and self.command is None:
            raise ValueError('must have a preset, such as "claude", or a command')
        return self

    @property
    def events(self) -> str:
        """The format of the agent's events."""
        return self.format or self.preset or "text"

    @property
    def skills_folder(self) -> str:
        """The folder in the workspace where the agent looks for skills."""
        return self.skills or _SKILL_FOLDERS.get(self.events, _COMMON_FOLDER)


class ArmsSettings(Table):
    """Files for agents that are measured as skills are: with them, and without."""

    files: Annotated[Texts, AfterValidator(_check_paths), Field(alias="with", min_length=1)]
    """The files or folders that are absent in the arm `without`, such as `AGENTS.md` or `.cursor/rules`."""
    cases: ProjectPath = "evals/evals.json"
    """The file with the cases, in the format of a skill's `evals/evals.json` or `eval.yaml`."""


_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def _check_target(value: str) -> str:
    if not _TARGET.fullmatch(value):
        raise ValueError('must be "module:function", as Python would import it')
    return value


def _check_reference(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError("must be text or a whole number")
    return value


ImportReference = Annotated[Text, AfterValidator(_check_target)]
VersionOrTag = Annotated[str | int, BeforeValidator(_check_reference)]


class OfflineConfig(Table):
    """A test config, by name, and the parameters of `client.offline_tests.run`; None keeps the default."""

    name: Text
    """The name of a test config in `.scoregate/configs/`."""
    agent: ImportReference | None = None
    """The function that gets every example, as `module:function`. Without it the stored outputs are scored."""
    pass_condition: ImportReference | None = None
    """The function that decides whether a row passes, as `module:function`."""
    assert_test: bool = False
    """Fail the run if a row doesn't pass. It needs `pass_condition`."""
    judge_versions: tuple[Mapping[Text, VersionOrTag], ...] = ()
    """Versions or tags of judges, such as `{ name = "helpfulness", tag = "prod" }`."""
    dataset_version: VersionOrTag | None = None
    """The version of the dataset. Without it: the newest."""
    field_mapping: Mapping[Text, Text] = Field(default_factory=dict)
    """Fields of the dataset, by names of the agent's parameters."""
    timeout_seconds: Seconds | None = None
    """Seconds that one example may take."""
    max_concurrency: Count | None = None
    """How many examples run at a time."""

    @model_validator(mode="after")
    def _check_assert_test(self) -> Self:
        if self.assert_test and self.pass_condition is None:
            raise ValueError("assert_test needs a pass_condition, which says whether a row passes")
        return self


OfflineConfigs = Annotated[tuple[OfflineConfig, ...], AfterValidator(check_distinct_names)]


class ThresholdSettings(Table):
    """The range in which a score passes; every bound that is set must hold."""

    lt: Number | None = None
    """The score is lower."""
    lte: Number | None = None
    """The score is lower or equal."""
    gt: Number | None = None
    """The score is higher."""
    gte: Number | None = None
    """The score is higher or equal."""

    @model_validator(mode="after")
    def _check_bound(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("must have a bound, as in { gte = 0.5 }")
        return self


def _check_scale(scale: tuple[float, float]) -> tuple[float, float]:
    low, high = scale
    if not low < high or not isfinite(high - low):
        raise ValueError("must be the lowest and the highest score, as in [0, 500]")
    return scale


Bounds = Annotated[tuple[Number, Number], AfterValidator(_check_scale)]


class EvaluatorSettings(Table):
    """How the scores of some scorers are read and compared; effects and margins are in [0, 1].

    `scale`, `threshold` and `ignore` are applied when a run is recorded, to imported results and to all suites. They
    win over what a suite or a file states.
    """

    scale: Bounds | None = None
    """The lowest and the highest score, such as `[0, 500]`, of a scorer that counts or gives stars. Its scores are
    mapped from there to [0, 1]. A verdict, `true` or `false`, is on no scale.
    """
    threshold: ThresholdSettings | None = None
    """The range in which a score passes, on its own scale, such as `{ gte = 300 }`; instead of the suite's. That of a
    wildcard replaces no threshold of a verdict.
    """
    ignore: bool | None = None
    """`true` leaves out the scorer. A scorer of verdicts is left out only by its own name, not by a wildcard."""
    higher_is_better: bool | None = None
    """`false` if a lower score is better."""
    min_effect: Rate | None = None
    """The smallest change of the mean that can be *better* or *worse*."""
    margin: Rate | None = None
    """Changes that are certainly smaller than this are *equivalent*."""

    @model_validator(mode="after")
    def _check_threshold(self) -> Self:
        threshold = self.criteria().threshold
        if (
            threshold is not None
            and self.scale is not None
            and (problem := describe_wrong_bound(threshold, self.scale))
        ):
            raise ValueError(f"its threshold {problem}; bounds are on the scale of its scores")
        return self

    def criteria(self) -> EvaluatorCriteria:
        """The settings as criteria."""
        threshold = None if self.threshold is None else Threshold(**self.threshold.model_dump())
        return EvaluatorCriteria(**{**self.model_dump(), "threshold": threshold})
