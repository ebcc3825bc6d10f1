"""The comment on the pull request: find it, then create or update it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from scoregate.ci.github.client import Api
from scoregate.ci.github.context import Connection, PullRequest
from scoregate.ci.github.responses import number_at, text_at
from scoregate.ci.publish.delivery import PENDING, Delivery, PublishTarget
from scoregate.ci.report.markdown import marker_prefix, parse_run, render
from scoregate.ci.report.rows import ReportState
from scoregate.ci.report.view import ReportView
from scoregate.ci.settings import CommentMode
from scoregate.core.gate.finding import Conclusion
from scoregate.errors import GitHubRefused

_JOB_LOGIN = "github-actions[bot]"
_MISSING = 404
_LOGIN_QUERY = "query { viewer { login } }"


@dataclass(frozen=True, slots=True)
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
    marked = [each async for each in api.pages(f"issues/{number}/comments") if has_marker(_text(each.get("body")))]
    authors = await _own_logins(api, graphql_url) if marked else set()
    return next((_comment(each) for each in marked if _author(each) in authors), None)


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
    if old is not None and (changed := await _update_comment(api, old, body)) is not None:
        return changed

    async def arrived() -> Mapping[str, Any] | None:
        found = await find()
        return None if found is None else {"id": found.id, "body": found.body, "html_url": found.url}

    return _comment(await api.post(f"issues/{number}/comments", {"body": body}, find_created=arrived))


async def _update_comment(api: Api, old: Comment, body: str) -> Comment | None:
    """Update a comment; None if it was deleted in the meantime."""
    try:
        return _comment(await api.patch(f"issues/comments/{old.id}", {"body": body}))
    except GitHubRefused as refused:
        if refused.status != _MISSING:
            raise
        return None


async def _own_logins(api: Api, graphql_url: str) -> set[str]:
    """The logins that the token writes as. Installation tokens can't use another API for this."""
    try:
        answer = await api.post(graphql_url, {"query": _LOGIN_QUERY})
        login = text_at(answer, "data", "viewer", "login")
    except GitHubRefused:
        return {_JOB_LOGIN}
    return {login, login if login.endswith("[bot]") else f"{login}[bot]"}


def _comment(found: Mapping[str, Any]) -> Comment:
    return Comment(number_at(found, "id"), _text(found.get("body")), _text(found.get("html_url")))


def _author(found: Mapping[str, Any]) -> str:
    user = found.get("user")
    return _text(user.get("login")) if isinstance(user, dict) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_PENDING = {PENDING: "true"}
_NO_TOKEN = "no comment was written: there is no token; set github-token"
_CHANGED = {
    ReportState.FAILED,
    ReportState.WORSE,
    ReportState.BETTER,
    ReportState.NEW,
    ReportState.REMOVED,
    ReportState.NOT_COMPARABLE,
}


async def publish_comment(view: ReportView, outlet: PublishTarget) -> Delivery:
    """Create or update the comment. An existing comment is always updated, so that it is never outdated."""
    connection, request = outlet.connection, outlet.request
    if connection is None or request is None or outlet.comment is CommentMode.OFF:
        return Delivery()
    if outlet.read_only:
        return Delivery(_PENDING)
    if connection.api is None:
        return Delivery(_PENDING, (_NO_TOKEN,))
    try:
        return await _write_comment(view, outlet, connection, api=connection.api, request=request)
    except GitHubRefused as refused:
        return Delivery(_PENDING, (f"cannot write the comment: {refused}",))


async def _write_comment(
    view: ReportView, outlet: PublishTarget, connection: Connection, *, api: Api, request: PullRequest
) -> Delivery:
    mark, mine = marker_prefix(view.context.key), parse_run(view.context.run)
    find = partial(
        find_comment,
        api,
        request.number,
        lambda body: body.startswith(mark),
        graphql_url=connection.github.graphql_url,
    )
    old = await find()
    if old is None and not is_wanted(view, outlet.comment):
        return Delivery()
    if old is not None and parse_run(old.body) > mine:
        return Delivery({"comment-url": old.url}, ("a newer run has commented already, so its comment stays",))
    if old is not None and parse_run(old.body) == mine and not outlet.measured_here:
        return Delivery({"comment-url": old.url})  # the first workflow has commented already
    # The marker is not redacted: it must be found again, even if a secret is a part of it.
    first, _, rest = "".join(render(view)).partition("\n")
    body = f"{first}\n{outlet.redact(rest)}"
    comment = await put_comment(api, request.number, body, old=old, find=find)
    return Delivery({"comment-url": comment.url})


def is_wanted(view: ReportView, mode: CommentMode) -> bool:
    """Whether a new comment is wanted in this mode."""
    failed = view.conclusion is not Conclusion.PASSED
    if mode is CommentMode.FAILURES:
        return failed
    changed = any(row.state in _CHANGED for row in view.rows) or bool(view.gone or view.newly_failing)
    return mode is CommentMode.ALWAYS or (mode is CommentMode.CHANGES and (failed or changed))
