"""Packages that send requests to GitHub, in this process, against the fake."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.fixtures import github
from tests.fakes.github import GitHub, Repository
from tests.integration.github.place import Place

__all__ = ["github"]


@pytest.fixture
def repo(github: GitHub) -> Repository:
    """A repository with three commits on main."""
    repository = github.repository("acme/bot")
    for number in range(3):
        repository.commit("main", files={"README.md": str(number)})
    return repository


@pytest.fixture
def place(repo: Repository, tmp_path: Path) -> Place:
    return Place(repo, tmp_path)
