"""A repository with an open pull request, and a client with all permissions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx
import pytest
from tests.fakes.fixtures import github
from tests.fakes.github import GitHub, Pull, Repository

__all__ = ["github"]
Connect = Callable[..., httpx.Client]


@pytest.fixture
def repo(github: GitHub) -> Repository:
    repository = github.repository("acme/shop")
    repository.commit("main", files={"README.md": "hello", "src/shop.py": "print()"})
    repository.commit("feature", parents=[repository.branch("main")])
    return repository


@pytest.fixture
def pull(repo: Repository) -> Pull:
    return repo.pull_request("feature")


@pytest.fixture
def connect(github: GitHub) -> Iterator[Connect]:
    """A client of acme/shop with the given permissions, or with a token."""
    with ExitStack() as stack:

        def connected(
            login: str = "github-actions[bot]", *, token: str | None = None, **permissions: str
        ) -> httpx.Client:
            secret = token or github.token(login, **permissions)
            headers = {"authorization": f"Bearer {secret}"}
            # A busy machine may need longer than the default of 5 s.
            client = httpx.Client(base_url=f"{github.url}/repos/acme/shop", headers=headers, timeout=60)
            return stack.enter_context(client)

        yield connected


@pytest.fixture
def api(connect: Connect) -> httpx.Client:
    return connect(
        contents="write", pull_requests="write", issues="write", checks="write", statuses="write", actions="write"
    )
