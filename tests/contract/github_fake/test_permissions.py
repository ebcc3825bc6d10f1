"""Permissions of tokens, and the errors without them."""

from __future__ import annotations

import httpx
import pytest
from tests.contract.github_fake.conftest import Connect
from tests.fakes.github import GitHub, Pull, Repository

COMMENTS = "/issues/1/comments"


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic eDp5"}])
def test_a_known_token_is_required(github: GitHub, headers: dict[str, str]) -> None:
    assert httpx.get(f"{github.url}/repos/acme/shop", headers=headers, timeout=60).status_code == 401


@pytest.mark.usefixtures("pull")
def test_a_read_only_token_is_refused(connect: Connect) -> None:
    reader = connect(contents="read", pull_requests="read", checks="read")
    posts = {
        COMMENTS: {"body": "x"},
        "/check-runs": {"name": "x", "head_sha": "0" * 40},
        "/git/blobs": {"content": "x"},
    }
    for path, body in posts.items():
        answer = reader.post(path, json=body)
        assert (answer.status_code, answer.json()["message"]) == (403, "Resource not accessible by integration")
    assert reader.get(COMMENTS).status_code == 200


def test_others_comments_need_permission_too(connect: Connect, pull: Pull) -> None:
    comment = pull.comment("mine", login="somebody")
    path = f"/issues/comments/{comment.id}"
    assert connect(pull_requests="read").delete(path).status_code == 403
    assert connect(issues="write").patch(path, json={"body": "edited"}).status_code == 200


@pytest.mark.usefixtures("pull")
def test_a_private_repository_is_hidden(connect: Connect, repo: Repository) -> None:
    repo.private = True
    other_app = connect(contents="read")
    assert other_app.get("/commits").status_code == 200
    assert other_app.get(COMMENTS).status_code == 404
    assert other_app.post(COMMENTS, json={"body": "x"}).status_code == 404


@pytest.mark.usefixtures("repo")
def test_a_token_reaches_only_its_repositories(github: GitHub, connect: Connect) -> None:
    github.repository("acme/secret", private=True).commit()
    client = connect(token=github.token(repositories=["acme/shop"], contents="write"))
    assert client.get(f"{github.url}/repos/acme/shop").status_code == 200
    assert client.get(f"{github.url}/repos/acme/secret").status_code == 404
    assert client.post("/git/blobs", json={"content": "x"}).status_code == 201


def test_an_installation_has_only_a_login(github: GitHub, connect: Connect) -> None:
    bot, person = connect(), connect("octocat")
    query = {"query": "{ viewer { login } }"}
    assert bot.get(f"{github.url}/user").status_code == 403
    assert person.get(f"{github.url}/user").json()["login"] == "octocat"
    logins = [client.post(github.graphql_url, json=query).json()["data"]["viewer"]["login"] for client in (bot, person)]
    assert logins == ["github-actions[bot]", "octocat"]


def test_another_graphql_query_is_a_violation(github: GitHub, connect: Connect) -> None:
    assert "errors" in connect().post(github.graphql_url, json={"query": "{ viewer { id } }"}).json()
    assert len(github.violations) == 1
    github.violations.clear()


def test_check_runs_belong_to_their_app(connect: Connect, repo: Repository) -> None:
    body = {"name": "gate", "head_sha": repo.branch("main")}
    assert connect("octocat", checks="write").post("/check-runs", json=body).status_code == 403
    created = connect(checks="write").post("/check-runs", json=body).json()
    other = connect("renovate[bot]", checks="write").patch(f"/check-runs/{created['id']}", json={"name": "mine"})
    assert (other.status_code, "Invalid app_id" in other.text) == (403, True)
