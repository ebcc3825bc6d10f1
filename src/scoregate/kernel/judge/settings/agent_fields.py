"""The tables `[agent]` and `[arms]`: the agent that suites run, and the files that it runs with and without."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from scoregate.kernel.judge.settings.command_fields import Words
from scoregate.kernel.types.declarations.fields import Count, Factor, NonNegativeInt, Seconds, Table, Text, Texts

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
