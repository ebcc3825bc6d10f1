"""The plan of an installation: commands, and what they are made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from scoregate.features.setup.install.python_project import PythonProject, WantedGroups
from scoregate.kernel.types.records import record

Words: TypeAlias = tuple[str, ...]
PIP_INSTALL = ("{uv}", "pip", "install", "--python", "{python}")


@record
class InstallPlan:
    """Commands to run in the root, one after the other, and the reason for them.

    In the commands, `{uv}`, `{venv}`, `{python}` and `{requirements}` are replaced by uv, the environment's folder, its
    interpreter, and a file outside the project.

    Args:
        steps: the commands. A command that fails ends the installation.
        why: what the environment is made from.
        files: the project's files that are used, relative to the root.
        requirements: the content of the file `{requirements}`; None if a command writes it.
        project_step: installs the project itself, without dependencies; empty if it is not a package. It may fail, as
            suites find the code in the root and in `src` as well.
        notes: lines for the user.
    """

    steps: tuple[Words, ...]
    why: str
    files: tuple[str, ...] = ()
    requirements: str | None = None
    project_step: Words = ()
    notes: tuple[str, ...] = ()


@record
class InstallRequest:
    """What a plan is made for.

    Args:
        project: the project.
        groups: the groups that the settings name.
        python_version: the Python version of the environment; None for the project's own choice.
    """

    project: PythonProject
    groups: WantedGroups = field(default_factory=WantedGroups)
    python_version: str | None = None

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.project.root

    @property
    def version_options(self) -> Words:
        """The options of uv for the Python version."""
        return ("--python", self.python_version) if self.python_version else ()

    def venv_command(self, *options: str) -> Words:
        """The command that makes an empty environment."""
        return ("{uv}", "venv", *self.version_options, *options, "{venv}")


PlanInstall: TypeAlias = Callable[[InstallRequest], InstallPlan | None]


def repeat_option(option: str, values: tuple[str, ...]) -> Words:
    """An option once for each value."""
    return tuple(word for value in values for word in (option, value))


def project_step(project: PythonProject) -> Words:
    """The command that installs the project itself, editable, without dependencies; empty if it is not a package."""
    return (*PIP_INSTALL, "--no-deps", "-e", ".") if project.is_package else ()
