"""A shop that answers, and a model that finds the behavior in all answers but one."""

from __future__ import annotations

import shutil
import subprocess

from tests.docs.page import Block
from tests.docs.project import ROOT, Project


def prepare(project: Project) -> None:
    project.environment["SHOP_URL"] = f"{project.start_chat_service().url}/chat"
    project.models.answers("show the behavior", {"answer": "Yes"})
    project.models.answers("worn|wore", {"answer": "No"})


def run_example(project: Project, block: Block) -> str:
    """The commands that the page gives for scoregate's own repository."""
    clone = project.folder / "clone"
    subprocess.run(["git", "init", "--quiet", clone], check=True)
    shutil.copytree(ROOT / "examples", clone / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "pyproject.toml", clone)
    outcome = project.run(["bash", "-ec", f"cd clone\n{block.text}"])
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert outcome.stdout.count("refund-desk: 12 cases, 11 passed") == 2, outcome.stdout
    return outcome.stdout
