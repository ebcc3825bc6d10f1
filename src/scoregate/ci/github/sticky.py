"""One comment on a pull request for each key: found again on every page, updated in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scoregate.ci.github.answers import number_at, text_at
from scoregate.ci.github.api import Api
from scoregate.errors import GitHubRefused

_OF_JOBS = "github-actions[bot]"
_MISSING = 404
_WHO = "query { viewer { login } }"


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of ours."""

    id: int
    body: str
    url: str


async def find_comment(api: Api, number: int, is_ours: Callable[[str], bool], *, graphql_url: str) -> Comment | None:
    """The comment of ours; a mark alone proves nothing, since anybody can write one.

    Args:
        number: of the pull request. is_ours: whether a body bears our mark.

    Raises:
        GitHubRefused: the comments cannot be read.
    """
    marked = [each async for each in api.pages(f"issues/{number}/comments") if is_ours(_text(each.get("body")))]
    authors = await _own_logins(api, graphql_url) if marked else set()
    return next((_comment(each) for each in marked if _author(each) in authors), None)


async def put_comment(api: Api, number: int, body: str, *, old: Comment | None, find: Callable[[], Any]) -> Comment:
    """Update the old comment, or write a new one; at most one, whatever happens on the way.

    Args:
        find: looks for a comment of ours, where nobody knows whether the new one arrived.

    Raises:
        GitHubRefused: it was not written.
    """
    if old is not None and (changed := await _changed(api, old, body)) is not None:
        return changed

    async def arrived() -> Mapping[str, Any] | None:
        found = await find()
        return None if found is None else {"id": found.id, "body": found.body, "html_url": found.url}

    return _comment(await api.post(f"issues/{number}/comments", {"body": body}, arrived=arrived))


async def _changed(api: Api, old: Comment, body: str) -> Comment | None:
    """The comment with its new body; None where somebody has deleted it meanwhile."""
    try:
        return _comment(await api.patch(f"issues/comments/{old.id}", {"body": body}))
    except GitHubRefused as refused:
        if refused.status != _MISSING:
            raise
        return None


async def _own_logins(api: Api, graphql_url: str) -> set[str]:
    """Whom our token writes as. Installation tokens may not ask for their user in any other way."""
    try:
        answer = await api.post(graphql_url, {"query": _WHO})
        login = text_at(answer, "data", "viewer", "login")
    except GitHubRefused:
        return {_OF_JOBS}
    return {login, login if login.endswith("[bot]") else f"{login}[bot]"}


def _comment(found: Mapping[str, Any]) -> Comment:
    return Comment(number_at(found, "id"), _text(found.get("body")), _text(found.get("html_url")))


def _author(found: Mapping[str, Any]) -> str:
    user = found.get("user")
    return _text(user.get("login")) if isinstance(user, dict) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
