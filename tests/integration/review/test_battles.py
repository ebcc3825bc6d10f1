"""Battles over HTTP: access, blind reviews by several people, counted by the gate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.integration.review.conftest import Maker, Reviewed, open_client


def battles(client: httpx.Client) -> list[dict[str, Any]]:
    return [client.get(f"/battles/{row['key']}").json() for row in client.get("/state").json()["battles"]]


def post_review(client: httpx.Client, battle: dict[str, Any], winner: str) -> dict[str, Any]:
    """Review a battle by the side of an output."""
    side = "left" if battle["left"].startswith(winner) else "right"
    answer = client.post(f"/battles/{battle['key']}", json={"decision": side if winner else "tie"})
    assert answer.status_code == 200, answer.text
    response: dict[str, Any] = answer.json()
    return response


def test_a_pending_battle_becomes_a_score_without_a_new_run(reviewed: Maker) -> None:
    run = reviewed("a", "b", "c")
    code, before = run.gate()
    assert code == 0
    assert "3 evaluations waiting for review" in before
    with run.reviewing() as address, open_client(address) as client:
        for battle, winner in zip(battles(client), ("new", "old", "old"), strict=True):
            post_review(client, battle, winner)
    words = run.words("verdicts", "better")
    assert {(each["case"], each["winner"], each["by"]) for each in words} == {
        ("a", "challenger", "Dev"), ("b", "baseline", "Dev"), ("c", "baseline", "Dev"),
    }  # fmt: skip
    code, after = run.gate(SCOREGATE_MIN_PASS_RATE="0.8")
    assert code == 1, after
    assert "0.333" in after
    assert "waiting" not in after


def test_sides_are_shuffled_stably_and_hidden(reviewed: Maker) -> None:
    run = reviewed(*map(str, range(12)))
    seen = []
    for by in ("Dev", "Dev", "Ann"):
        with run.reviewing("--by", by) as address, open_client(address) as client:
            items = battles(client)
            seen.append([battle["left"].startswith("new") for battle in items])
            for battle in items:
                assert {"baseline", "challenger", "winner"}.isdisjoint(battle)
    assert seen[0] == seen[1] != seen[2]
    assert 0 < sum(seen[0]) < 12


def test_two_reviewers_see_where_they_differ_after_their_reviews(reviewed: Maker) -> None:
    run = reviewed("a", "b")
    both = run.reviewing("--by", "Ann"), run.reviewing("--by", "Bob")
    with both[0] as one, both[1] as other, open_client(one) as ann, open_client(other) as bob:
        for battle in battles(ann):
            post_review(ann, battle, "new")
        first, second = battles(bob)
        assert (first["others"], first["decision"]) == ([], None)
        answer = post_review(bob, first, "old")
        assert [each["by"] for each in answer["others"]] == ["Ann"]
        assert answer["others"][0]["decision"] != answer["decision"]
        answer = post_review(bob, second, "new")
        assert answer["others"][0]["decision"] == answer["decision"]
    assert len(run.words("verdicts", "better")) == 4


def test_a_later_review_replaces_an_earlier_and_can_be_undone(reviewed: Maker) -> None:
    run = reviewed("a")
    with run.reviewing() as address, open_client(address) as client:
        (battle,) = battles(client)
        post_review(client, battle, "new")
        post_review(client, battle, "old")
        assert [each["winner"] for each in run.words("verdicts", "better")] == ["baseline"]
        assert client.delete(f"/battles/{battle['key']}").json()["decision"] is None
    assert run.words("verdicts", "better") == []


@pytest.fixture(scope="module")
def served(reviewed: Maker) -> Iterator[tuple[Reviewed, str]]:
    """A run with its page, for requests that change nothing."""
    run = reviewed("a")
    with run.reviewing() as address:
        yield run, address


@pytest.mark.parametrize("path", ["/", "/?token=wrong", "/state", "/static/main.js", "/nothing"])
def test_the_token_is_required(served: tuple[Reviewed, str], path: str) -> None:
    origin = "http://" + urlsplit(served[1]).netloc
    answer = httpx.get(origin + path, timeout=60)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_cookie_is_strict_and_http_only(served: tuple[Reviewed, str]) -> None:
    answer = httpx.get(served[1], timeout=60)
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert served[1].partition("token=")[2] not in cookie
    assert "unsafe" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example"},
    ],
)
def test_other_pages_can_write_nothing(served: tuple[Reviewed, str], headers: dict[str, str]) -> None:
    run, address = served
    with open_client(address) as client:
        (battle,) = battles(client)
        for method in ("POST", "DELETE"):
            answer = client.request(method, f"/battles/{battle['key']}", json={"decision": "tie"}, headers=headers)
            assert answer.status_code == 403
        del client.headers["Origin"]
        assert client.post(f"/battles/{battle['key']}", json={"decision": "tie"}).status_code == 403
    assert run.words("verdicts", "better") == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{}", 400),
        ('{"decision": "both"}', 400),
        ("no", 400),
        ('{"decision": "tie", "by": "x"}', 400),
        ("x" * 2**21, 413),
    ],
)
def test_an_invalid_review_is_refused_with_a_reason(served: tuple[Reviewed, str], body: str, status: int) -> None:
    run, address = served
    with open_client(address) as client:
        (battle,) = battles(client)
        answer = client.post(f"/battles/{battle['key']}", content=body)
        assert (answer.status_code, bool(answer.json()["error"])) == (status, True)
        assert client.post("/battles/unknown", json={"decision": "tie"}).status_code == 404
    assert run.words("verdicts", "better") == []


def test_a_reviewer_is_required(reviewed: Maker) -> None:
    run = reviewed("a")
    run.project.git("config", "user.name", "")
    outcome = run.project.scoregate("review", str(run.run))
    assert outcome.exit_code == 2
    assert "--by" in outcome.output
