"""A repository with a store, and processes that work on it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli import run_cli
from tests.warm_scripts import Started, start_code

_DROPPED = ("SCOREGATE_", "GITHUB_", "INPUT_", "GIT_", "PYTEST_")
_AUTHOR = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_TERMINAL_PROMPT": "0"}


@dataclass(frozen=True)
class Project:
    """A git repository in a temporary folder."""

    root: Path

    def scoregate(self, *words: str, text: bytes = b"", **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command in this process."""
        return run_cli(*words, cwd=self.root, environ=environment(**more), text=text)

    def start(self, code: str, *words: str) -> Started | subprocess.Popen[str]:
        """Python code in a process of its own, which is forked."""
        return start_code(code, *words, cwd=self.root, environ=environment())

    def git(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Git in the repository."""
        return subprocess.run(
            ["git", *words], cwd=self.root, env=environment(), capture_output=True, text=True, check=check
        )

    def commit(self) -> None:
        """The whole content."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "change")

    def file(self, name: str) -> Path:
        """A file of the store."""
        return self.root / ".scoregate" / name


def environment(**more: str) -> dict[str, str]:
    """The environment without variables that name another folder."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(_DROPPED)}
    return {**environ, **_AUTHOR, **more}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    new_project = Project(root)
    new_project.git("init", "--quiet", "--initial-branch", "main")
    new_project.git("config", "user.name", "Ada")
    new_project.git("config", "user.email", "ada@example.com")
    new_project.git("commit", "--quiet", "--allow-empty", "--message", "start")
    return new_project
