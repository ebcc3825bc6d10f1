"""Judges corrected over HTTP: by several people, with the figures of their agreement."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.integration.review.conftest import Maker, open_client


def review_battles(client: httpx.Client) -> list[dict[str, Any]]:
    """The rows of judges, once every battle is judged."""
    for row in client.get("/state").json()["battles"]:
        client.post(f"/battles/{row['key']}", json={"decision": "tie"})
    rows: list[dict[str, Any]] = client.get("/state").json()["judges"]
    return rows


def test_two_people_correct_a_judge_and_see_its_agreement(reviewed: Maker) -> None:
    run = reviewed("a", "b", "c")
    both = run.reviewing("--by", "Ann"), run.reviewing("--by", "Bob")
    with both[0] as one, both[1] as other, open_client(one) as ann, open_client(other) as bob:
        for row in review_battles(ann):
            assert ann.post(f"/judges/{row['key']}", json={"score": 0.5}).status_code == 200
        first, *_ = review_battles(bob)
        assert (first["others"], first["decision"]) == ([], None)
        answer = bob.post(f"/judges/{first['key']}", json={"score": 1}).json()
        assert answer["others"] == [{"by": "Ann", "decision": 0.5}]
        (figures,) = ann.get("/state").json()["agreement"]
        assert (figures["evaluator"], figures["n"], figures["matching"]) == ("tone", 4, 3)
    reviews = {(each["by"], each["override_score"]) for each in run.words("overrides", "tone")}
    assert reviews == {("Ann", 0.5), ("Bob", 1)}


def test_a_correction_is_replaced_and_undone(reviewed: Maker) -> None:
    run = reviewed("a", "b", "c")
    with run.reviewing() as address, open_client(address) as client:
        key = review_battles(client)[0]["key"]
        for score in (0, 0.25):
            client.post(f"/judges/{key}", json={"score": score})
        assert [each["override_score"] for each in run.words("overrides", "tone")] == [0.25]
        assert client.delete(f"/judges/{key}").json()["decision"] is None
    assert run.words("overrides", "tone") == []


def test_reviews_of_the_command_line_are_shown(reviewed: Maker) -> None:
    run = reviewed("a", "b", "c")
    arguments = ("--original", "0.5", "--score", "1", "--input", "a", "--output", "new a", "--by", "Dev")
    assert run.project.scoregate("overrides", "add", "tone", *arguments).exit_code == 0
    with run.reviewing() as address, open_client(address) as client:
        assert [row["decision"] for row in review_battles(client)] == [1, None, None]


@pytest.mark.parametrize(
    "body",
    [{}, {"score": 2}, {"score": -0.1}, {"score": "NaN"}, {"score": 1, "comments": [{"field_id": "x"}]}],
)
def test_an_invalid_correction_is_refused(reviewed: Maker, body: dict[str, Any]) -> None:
    run = reviewed("a", "b", "c")
    with run.reviewing() as address, open_client(address) as client:
        answer = client.post(f"/judges/{review_battles(client)[0]['key']}", json=body)
        assert (answer.status_code, bool(answer.json()["error"])) == (400, True)
    assert run.words("overrides", "tone") == []


def test_the_score_of_a_pending_battle_is_refused_and_hidden(reviewed: Maker) -> None:
    run = reviewed("a", "b", "c")
    with run.reviewing("--by", "Bob") as address, open_client(address) as client:
        key = review_battles(client)[0]["key"]
    with run.reviewing("--by", "Ann") as address, open_client(address) as client:
        attributes = [
            client.get(f"/judges/{key}"),
            client.post(f"/judges/{key}", json={"score": 1}),
            client.delete(f"/judges/{key}"),
        ]
        for answer in attributes:
            assert answer.status_code == 409
            assert list(answer.json()) == ["error"]
            assert "Judge the battle" in answer.json()["error"]
        assert client.get("/judges/unknown").status_code == 404
        review_battles(client)
        assert client.get(f"/judges/{key}").json()["score"] == 0.5
    assert run.words("overrides", "tone") == []


def test_an_unchanged_poll_has_no_body(reviewed: Maker) -> None:
    with reviewed("a", "b", "c").reviewing() as address, open_client(address) as client:
        mark = client.get("/state").json()["mark"]
        answer = client.get("/state", params={"mark": mark})
        assert (answer.status_code, answer.content) == (204, b"")
        review_battles(client)
        assert client.get("/state", params={"mark": mark}).json()["mark"] != mark
