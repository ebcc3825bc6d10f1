"""Failures on demand, and the record of requests."""

from __future__ import annotations

import math
import time

import httpx
import pytest
from tests.fakes.github import Exchange, GitHub, Pull, Repository

COMMENTS = "/issues/1/comments"


@pytest.mark.usefixtures("pull")
def test_a_failure_has_a_count(api: httpx.Client, github: GitHub) -> None:
    github.fail(
        "GET", "*/issues/*/comments", status=502, body={"message": "Bad gateway"}, headers={"x-y": "z"}, times=2
    )
    answers = [api.get(COMMENTS) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [502, 502, 200]
    assert (answers[0].json()["message"], answers[0].headers["x-y"]) == ("Bad gateway", "z")
    github.fail("*", "*", status=503, times=math.inf)
    assert {api.get(COMMENTS).status_code for _ in range(5)} == {503}


def test_answers_can_be_lost(api: httpx.Client, github: GitHub, pull: Pull) -> None:
    github.fail("POST", "*/comments", status=500, after=True)
    assert api.post(COMMENTS, json={"body": "one"}).status_code == 500
    github.drop("POST", "*/comments", after=True)
    with pytest.raises(httpx.RemoteProtocolError):
        api.post(COMMENTS, json={"body": "two"})
    github.drop("POST", "*/comments")
    with pytest.raises(httpx.RemoteProtocolError):
        api.post(COMMENTS, json={"body": "three"})
    assert [comment.body for comment in pull.comments] == ["one", "two"]


@pytest.mark.usefixtures("pull")
def test_limits_have_a_retry_delay(api: httpx.Client, github: GitHub) -> None:
    github.rate_limit("GET", "*", status=429, retry_after=3)
    secondary = api.get(COMMENTS)
    assert (secondary.status_code, secondary.headers["retry-after"]) == (429, "3")
    asked = int(time.time())
    github.rate_limit("GET", "*", reset_in=60)
    primary = api.get(COMMENTS)
    assert (primary.status_code, primary.headers["x-ratelimit-remaining"]) == (403, "0")
    assert asked + 60 <= int(primary.headers["x-ratelimit-reset"]) <= time.time() + 60
    assert int(api.get(COMMENTS).headers["x-ratelimit-remaining"]) > 0


@pytest.mark.usefixtures("pull")
def test_an_answer_can_be_slow(api: httpx.Client, github: GitHub) -> None:
    github.slow("GET", "*/comments", 30)
    with pytest.raises(httpx.ReadTimeout):
        api.get(COMMENTS, timeout=httpx.Timeout(60, read=0.1))
    assert api.get(COMMENTS, timeout=60).status_code == 200


def test_another_client_moves_the_ref(api: httpx.Client, github: GitHub, repo: Repository) -> None:
    mine = repo.commit(None, parents=[repo.branch("main")])
    moved: list[str] = []
    github.before("PATCH", "*/git/refs/heads/main", lambda _: moved.append(repo.commit("main")))
    assert api.patch("/git/refs/heads/main", json={"sha": mine}).status_code == 422
    assert repo.branch("main") == moved[0]
    again = repo.commit(None, parents=moved)
    assert api.patch("/git/refs/heads/main", json={"sha": again}).status_code == 200


@pytest.mark.usefixtures("pull")
def test_a_hook_can_call_the_fake(api: httpx.Client, github: GitHub) -> None:
    def comment_first(_: Exchange) -> None:
        httpx.post(f"{api.base_url}issues/1/comments", json={"body": "first"}, headers=dict(api.headers), timeout=60)

    github.before("POST", "*/comments", comment_first)
    api.post(COMMENTS, json={"body": "second"})
    assert [comment["body"] for comment in api.get(COMMENTS).json()] == ["first", "second"]


def test_blob_hosts_can_fail(api: httpx.Client, github: GitHub, repo: Repository) -> None:
    path = f"/actions/artifacts/{repo.workflow_run().upload('scores', b'zip').id}/zip"
    github.storage.fail("GET", "*.zip", status=503)
    github.storage.drop("GET", "*.zip")
    assert api.get(path, follow_redirects=True).status_code == 503
    with pytest.raises(httpx.RemoteProtocolError):
        api.get(path, follow_redirects=True)
    assert api.get(path, follow_redirects=True).content == b"zip"


@pytest.mark.usefixtures("pull")
def test_requests_are_recorded(api: httpx.Client, github: GitHub) -> None:
    api.post(COMMENTS, json={"body": "hello"}, headers={"X-Trace": "1"})
    api.get(COMMENTS, params={"per_page": 5})
    post, get = github.requests
    assert (post.method, post.path, post.json, post.status) == (
        "POST",
        "/repos/acme/shop/issues/1/comments",
        {"body": "hello"},
        201,
    )
    assert (post.headers["x-trace"], get.query) == ("1", {"per_page": "5"})
    assert github.asked("GET", "*/comments") == [get]


def test_a_broken_fake_fails(api: httpx.Client, github: GitHub, repo: Repository) -> None:
    run = repo.workflow_run()
    run.head_sha = "unknown"
    assert api.get(f"/actions/runs/{run.id}").status_code == 500
    assert "the fake (or a hook) broke" in github.violations.pop()
