"""Comments: created, changed, paged, and refused."""

from __future__ import annotations

import httpx
import pytest
from tests.fakes.github import Pull

COMMENTS = "/issues/1/comments"


def test_a_comment_can_change(api: httpx.Client, pull: Pull) -> None:
    created = api.post(COMMENTS, json={"body": "hello"})
    assert (created.status_code, created.json()["user"]["login"]) == (201, "github-actions[bot]")
    assert api.patch(created.json()["url"], json={"body": "again"}).json()["body"] == "again"
    assert [comment.body for comment in pull.comments] == ["again"]
    assert api.delete(created.json()["url"]).status_code == 204
    assert api.get(created.json()["url"]).status_code == 404
    assert pull.comments == []


def test_pages_are_linked(api: httpx.Client, pull: Pull) -> None:
    for number in range(5):
        pull.comment(str(number))
    seen, page = [], api.get(COMMENTS, params={"per_page": 2})
    assert "first" not in page.links
    assert page.links["last"]["url"].endswith("page=3")
    while True:
        seen += [comment["body"] for comment in page.json()]
        if "next" not in page.links:
            break
        page = api.get(page.links["next"]["url"])
    assert seen == ["0", "1", "2", "3", "4"]
    assert page.links.keys() == {"prev", "first"}


def test_no_page_is_longer_than_100(api: httpx.Client, pull: Pull) -> None:
    for number in range(101):
        pull.comment(str(number))
    assert len(api.get(COMMENTS).json()) == 30
    assert len(api.get(COMMENTS, params={"per_page": 200}).json()) == 100


@pytest.mark.parametrize(("length", "status"), [(65_536, 201), (65_537, 422)])
@pytest.mark.usefixtures("pull")
def test_a_body_has_at_most_65536_characters(api: httpx.Client, length: int, status: int) -> None:
    answer = api.post(COMMENTS, json={"body": "é" * length})
    assert answer.status_code == status
    assert status == 201 or "Body is too long (maximum is 65536 characters)" in answer.text


@pytest.mark.usefixtures("pull")
def test_a_body_is_not_blank(api: httpx.Client) -> None:
    assert api.post(COMMENTS, json={"body": " \n"}).status_code == 422


def test_a_locked_conversation_takes_no_comment(api: httpx.Client, pull: Pull) -> None:
    pull.locked = True
    answer = api.post(COMMENTS, json={"body": "hello"})
    assert (answer.status_code, "locked" in answer.text) == (403, True)


def test_deletion_is_seen(api: httpx.Client, pull: Pull) -> None:
    pull.gone = True
    assert api.get(COMMENTS).status_code == 410
    assert api.get("/issues/2/comments").status_code == 404
