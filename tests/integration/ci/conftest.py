"""Real git repositories to ask and to check out."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest


class Repository:
    """A folder in which git is run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    @classmethod
    def new(cls, root: Path) -> Repository:
        """One with a single commit on main."""
        instance = cls(root)
        instance.git("init", "-q", "-b", "main")
        instance.git("config", "user.email", "dev@example.com")
        instance.git("config", "user.name", "Dev")
        instance.commit("README.md", "hello")
        return instance

    def clone(self, name: str, *options: str) -> Repository:
        """A clone next to it."""
        new_repository = Repository(self.root.parent / name)
        new_repository.git("clone", "-q", *options, f"file://{self.root}", ".")
        return new_repository

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        process = subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True, text=True)
        return process.stdout.strip()

    def write(self, name: str, text: str = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, name: str, text: str = "") -> str:
        self.write(name, text)
        self.git("add", "-A")
        self.git("commit", "-qm", name)
        return self.head

    def state(self) -> tuple[str, ...]:
        """All that must not change: HEAD, branches, work trees, what differs in the tree, and temporary files."""
        left = [path.name for path in Path(tempfile.gettempdir()).iterdir()]
        return (
            str(left),
            self.git("symbolic-ref", "-q", "HEAD"),
            self.git("for-each-ref"),
            self.git("worktree", "list"),
            self.git("status", "--porcelain", "--ignored"),
        )


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository whose git sees no configuration of this machine's, and a folder of its own for temporary files."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return Repository.new(tmp_path.resolve() / "project")
