"""Take the history of a real repository on this machine over into one on the fake, under the same names."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

from tests.fakes.github.objects import Commit
from tests.fakes.github.repository import Repository

_FORMAT = "%H%x00%P%x00%ct%x00%s"


def adopt(repo: Repository, folder: Path) -> None:
    """Every commit that a branch of the folder reaches, and the branches; files stay where they are."""
    tree = repo.objects.add_tree({})
    for line in _git(folder, "log", "--all", "--reverse", "--topo-order", f"--format={_FORMAT}").splitlines():
        sha, parents, seconds, message = line.split("\0")
        old = [repo.objects.commits[each] for each in parents.split()]
        date = datetime.fromtimestamp(int(seconds), UTC)
        generation = 1 + max((each.generation for each in old), default=0)
        repo.objects.commits[sha] = Commit(sha, tree, tuple(parents.split()), message, date, generation)
    for line in _git(folder, "for-each-ref", "refs/heads", "--format=%(refname) %(objectname)").splitlines():
        name, sha = line.split()
        repo.refs[name] = sha


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout
