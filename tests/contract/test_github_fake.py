"""The fake of GitHub behaves as GitHub does: comments, and who may write them."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.fakes.fixtures import github  # noqa: F401
from tests.fakes.github import GitHub

COMMENTS = "/repos/acme/shop/issues/1/comments"
EVERYTHING = {"contents": "write", "pull_requests": "write", "checks": "write", "actions": "read"}


@pytest.fixture
def api(github: GitHub) -> Iterator[httpx.Client]:  # noqa: F811
    repo = github.repository("acme/shop")
    repo.commit("main", files={"README.md": "hello"})
    repo.commit("feature", parents=[repo.branch("main")])
    repo.pull_request("feature")
    with client(github, github.token(**EVERYTHING)) as made:
        yield made


def client(github: GitHub, token: str) -> httpx.Client:  # noqa: F811
    return httpx.Client(base_url=github.url, headers={"authorization": f"Bearer {token}"})


def test_a_comment_is_made_changed_and_deleted(api: httpx.Client) -> None:
    made = api.post(COMMENTS, json={"body": "hello"})
    assert (made.status_code, made.json()["user"]["login"]) == (201, "github-actions[bot]")
    assert api.patch(made.json()["url"], json={"body": "again"}).json()["body"] == "again"
    assert [comment["body"] for comment in api.get(COMMENTS).json()] == ["again"]
    assert api.delete(made.json()["url"]).status_code == 204
    assert api.get(COMMENTS).json() == []
