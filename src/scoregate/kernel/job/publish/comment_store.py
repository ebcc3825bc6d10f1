"""Comments on pull requests that scoregate wrote: find one, create or update it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scoregate.errors import GitHubRefused
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.responses import number_at, text_at
from scoregate.kernel.types.records import record

JOB_LOGIN = "github-actions[bot]"
_MISSING = 404
_LOGIN_QUERY = "query { viewer { login } }"


@record
class Comment:
    """A comment that scoregate wrote."""

    id: int
    body: str
    url: str


async def find_comment(api: Api, number: int, has_marker: Callable[[str], bool], *, graphql_url: str) -> Comment | None:
    """Find the comment that scoregate wrote. The author must match, too, since anyone can write the marker.

    Args:
        api: the GitHub API.
        number: the number of the pull request.
        has_marker: whether the body of a comment has the marker.
        graphql_url: the URL of the GraphQL API.

    Raises:
        GitHubRefused: the comments can't be read.
    """
    candidates = [each async for each in api.pages(f"issues/{number}/comments") if has_marker(_text(each.get("body")))]
    authors = await read_own_logins(api, graphql_url) if candidates else set()
    for each in candidates:
        user = each.get("user")
        if isinstance(user, dict) and user.get("login") in authors:
            return _comment(each)
    return None


async def put_comment(api: Api, number: int, body: str, *, old: Comment | None, find: Callable[[], Any]) -> Comment:
    """Update the old comment or create a new one, at most one even if a response is lost.

    Args:
        api: the GitHub API.
        number: the number of the pull request.
        body: the new body.
        old: the existing comment.
        find: finds the comment, if the response to its creation was lost.

    Raises:
        GitHubRefused: the comment was not written.
    """
    if old is not None:
        try:
            return _comment(await api.patch(f"issues/comments/{old.id}", {"body": body}))
        except GitHubRefused as refused:
            if refused.status != _MISSING:  # else it was deleted in the meantime
                raise

    async def find_created() -> Mapping[str, Any] | None:
        comment = await find()
        return None if comment is None else {"id": comment.id, "body": comment.body, "html_url": comment.url}

    return _comment(await api.post(f"issues/{number}/comments", {"body": body}, find_created=find_created))


async def read_own_logins(api: Api, graphql_url: str) -> set[str]:
    """The logins that the token writes as. Installation tokens can't use another API for this."""
    try:
        answer = await api.post(graphql_url, {"query": _LOGIN_QUERY})
        login = text_at(answer, "data", "viewer", "login")
    except GitHubRefused:
        return {JOB_LOGIN}
    return {login, login if login.endswith("[bot]") else f"{login}[bot]"}


def _comment(response: Mapping[str, Any]) -> Comment:
    return Comment(number_at(response, "id"), _text(response.get("body")), _text(response.get("html_url")))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
