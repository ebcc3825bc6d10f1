"""Retried requests, their time limits, and the messages if they fail."""

from __future__ import annotations

import gzip
import math
from dataclasses import replace
from typing import Any

import pytest
from tests.integration.github.place import Place

from scoregate.errors import GitHubRefused
from scoregate.kernel.job.github.client import RetryBudget

pytestmark = pytest.mark.anyio
PULLS = "*/pulls"


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_fault_of_github_is_retried_with_backoff(place: Place, status: int) -> None:
    place.github.fail("GET", PULLS, status=status, times=2)
    async with place.api() as api:
        assert await api.get("pulls") == []
    assert place.slept == [1.0, 2.0]


async def test_an_outage_of_github_is_an_error(place: Place) -> None:
    place.github.fail("GET", PULLS, status=503, times=math.inf)
    async with place.api() as api:
        with pytest.raises(GitHubRefused, match="503") as failure:
            await api.get("pulls")
    assert "GitHub has an outage" in failure.value.advice
    assert place.slept == [1.0, 2.0, 4.0]


async def test_a_broken_connection_is_retried(place: Place) -> None:
    place.github.drop("GET", PULLS)
    async with place.api() as api:
        assert await api.get("pulls") == []
    assert len(place.github.asked("GET", PULLS)) == 2


async def test_retry_after_and_the_reset_of_the_limit_are_kept(place: Place) -> None:
    place.github.rate_limit("GET", PULLS, retry_after=17)
    place.github.rate_limit("GET", PULLS, reset_in=30)
    async with place.api() as api:
        assert await api.get("pulls") == []
    first, second = place.slept
    assert first == 17
    assert 28 <= second <= 30


async def test_a_limit_without_a_time_is_retried_with_backoff(place: Place) -> None:
    place.github.rate_limit("GET", PULLS, status=429, times=3)
    async with place.api() as api:
        assert await api.get("pulls") == []
    assert place.slept == [5.0, 10.0, 20.0]


@pytest.mark.parametrize("limit", [{"retry_after": 3600}, {"reset_in": 1800}])
async def test_a_long_limit_is_an_error(place: Place, limit: dict[str, int]) -> None:
    place.github.rate_limit("GET", PULLS, times=math.inf, **limit)
    async with place.api() as api:
        with pytest.raises(GitHubRefused) as failure:
            await api.get("pulls")
    assert "used up its requests" in failure.value.advice
    assert place.slept == []


async def test_all_requests_share_a_budget(place: Place) -> None:
    place.github.rate_limit("GET", PULLS, retry_after=50, times=math.inf)
    async with place.api() as api:
        hurried = replace(api, retry_budget=RetryBudget(120.0))
        for _ in range(5):
            with pytest.raises(GitHubRefused):
                await hurried.get("pulls")
    assert place.slept == [50, 50]


async def test_a_forbidden_request_is_sent_once(place: Place) -> None:
    async with place.api(contents="read", metadata="read") as api:
        with pytest.raises(GitHubRefused, match="Resource not accessible by integration") as failure:
            await api.post("issues/1/comments", {"body": "hello"})
    assert "pull-requests: write" in failure.value.advice
    assert len(place.github.requests) == 1


@pytest.mark.parametrize(
    ("path", "permission"),
    [
        ("check-runs", "checks: write"),
        ("git/blobs", "contents: write"),
        ("pulls/1", "pull-requests: write"),
    ],
)
async def test_a_refusal_names_the_permission(place: Place, path: str, permission: str) -> None:
    place.github.fail("POST", f"*/{path}", status=403, body={"message": "Resource not accessible by integration"})
    async with place.api() as api:
        with pytest.raises(GitHubRefused) as failure:
            await api.post(path, {})
    assert permission in failure.value.advice


@pytest.mark.parametrize(
    "body", [b"<html>Please log in</html>", b"", b"null", b'"text"'], ids=["html", "nothing", "null", "text"]
)
async def test_an_answer_that_is_no_json_is_a_refusal(place: Place, body: bytes) -> None:
    place.github.fail("GET", PULLS, status=200, body=body, times=math.inf)
    async with place.api() as api:
        with pytest.raises(GitHubRefused, match="not valid JSON"):
            await api.get("pulls")
        with pytest.raises(GitHubRefused, match="not valid JSON"):
            [each async for each in api.pages("pulls")]


async def test_a_moved_repository_is_a_refusal(place: Place) -> None:
    moved = {"message": "Moved Permanently", "url": "https://elsewhere.example"}
    place.github.fail("GET", PULLS, status=301, body=moved, headers={"location": "https://elsewhere.example/"})
    async with place.api() as api:
        with pytest.raises(GitHubRefused, match="301 Moved Permanently"):
            await api.get("pulls")


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:9", "ftp://127.0.0.1", "//127.0.0.1:9"])
async def test_a_page_at_another_address_is_refused(place: Place, origin: str) -> None:
    elsewhere = {"link": f'<{origin}/next?page=2>; rel="next"'}
    place.github.fail("GET", PULLS, status=200, body=[{"number": 1}], headers=elsewhere)
    async with place.api() as api:
        with pytest.raises(GitHubRefused, match="the token is not sent there"):
            [each async for each in api.pages("pulls")]
    assert len(place.github.requests) == 1


@pytest.mark.parametrize(
    "body",
    [{}, {"artifacts": None}, {"artifacts": {}}, {"artifacts": [1, None, []]}, [], b"[" * 5_000 + b"]" * 5_000],
    ids=["empty object", "null", "object", "odd items", "list", "deep"],
)
async def test_an_answer_of_another_form_is_a_refusal(place: Place, body: Any) -> None:
    place.github.fail("GET", "*/actions/artifacts", status=200, body=body, times=math.inf)
    async with place.api() as api:
        with pytest.raises(GitHubRefused, match=r"can't be used|not valid JSON"):
            [each async for each in api.pages("actions/artifacts", "artifacts")]


async def test_an_undecodable_body_is_a_refusal(place: Place) -> None:
    broken = {"content-encoding": "gzip", "content-type": "application/json"}
    place.github.fail("GET", PULLS, status=200, body=b"no gzip", headers=broken, times=math.inf)
    async with place.api() as api:
        with pytest.raises(GitHubRefused, match="no response"):
            await api.get("pulls")


async def test_an_endless_body_is_a_refusal(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.kernel.job.github.responses.MAX_BODY_BYTES", 1_000)
    place.github.fail("GET", PULLS, status=200, body=gzip.compress(b" " * 10_000), headers={"content-encoding": "gzip"})
    async with place.api() as api:
        with pytest.raises(GitHubRefused, match="is larger than"):
            await api.get("pulls")


@pytest.mark.parametrize("lost", ["answered 502", "dropped"])
async def test_a_post_without_an_answer_is_checked_before_a_retry(place: Place, lost: str) -> None:
    pull = open_pull(place)
    path = f"*/issues/{pull.number}/comments"
    if lost == "dropped":
        place.github.drop("POST", path, after=True)
    else:
        place.github.fail("POST", path, status=502, after=True)
    async with place.api() as api:

        async def arrived() -> Any:
            return next(iter([each async for each in api.pages(f"issues/{pull.number}/comments")]), None)

        new_comment = await api.post(f"issues/{pull.number}/comments", {"body": "hello"}, find_created=arrived)
    (comment,) = pull.comments
    assert new_comment["id"] == comment.id


def open_pull(place: Place) -> Any:
    place.repo.commit("change", parents=[place.repo.branch("main")])
    return place.repo.pull_request("change")


async def test_the_token_is_not_shown(place: Place) -> None:
    async with place.api() as api:
        (token,) = place.github.tokens
        assert token not in repr(api)
        place.github.fail("GET", PULLS, status=401, body={"message": "Bad credentials"})
        with pytest.raises(GitHubRefused) as failure:
            await api.get("pulls")
    assert token not in str(failure.value)
    assert "github-token" in failure.value.advice
