"""Would your evals notice: the example bot with its base configuration, in a repository of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.docs.project import Project

_EXAMPLE = "examples/support_bot"


def prepare(project: Project) -> None:
    """Copy the bot, and commit it."""
    folder = project.folder / _EXAMPLE
    shutil.copytree(Path(__file__).parents[3] / _EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(folder / "config_base.toml", folder / "config.toml")
    outcome = project.run(["bash", "-ec", "git add -A && git commit -qm bot"])
    assert outcome.returncode == 0, outcome.stderr
