"""The comment on the pull request: find it, then create or update it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from scoregate.core.records import record
from scoregate.errors import GitHubRefused

_JOB_LOGIN = "github-actions[bot]"
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
    authors = await find_own_logins(api, graphql_url) if candidates else set()
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


async def find_own_logins(api: Api, graphql_url: str) -> set[str]:
    """The logins that the token writes as. Installation tokens can't use another API for this."""
    try:
        answer = await api.post(graphql_url, {"query": _LOGIN_QUERY})
        login = text_at(answer, "data", "viewer", "login")
    except GitHubRefused:
        return {_JOB_LOGIN}
    return {login, login if login.endswith("[bot]") else f"{login}[bot]"}


def _comment(response: Mapping[str, Any]) -> Comment:
    return Comment(number_at(response, "id"), _text(response.get("body")), _text(response.get("html_url")))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_PENDING = {PENDING: "true"}
_NO_TOKEN = "no comment was written: there is no token; set github-token"
_CHANGED = {
    ReportState.FAILED,
    ReportState.WORSE,
    ReportState.ACCEPTED,
    ReportState.DRIFT,
    ReportState.BETTER,
    ReportState.NEW,
    ReportState.REMOVED,
    ReportState.NOT_COMPARABLE,
}


async def publish_comment(view: ReportView, target: PublishTarget) -> Delivery:
    """Create or update the comment. An existing comment is always updated, so that it is never outdated."""
    connection, request = target.connection, target.request
    if connection is None or request is None or target.comment is CommentMode.OFF:
        return Delivery()
    if target.read_only:
        return Delivery(_PENDING)
    if connection.api is None:
        return Delivery(_PENDING, (_NO_TOKEN,))
    try:
        return await _write_comment(view, target, connection, api=connection.api, request=request)
    except GitHubRefused as refused:
        return Delivery(_PENDING, (f"cannot write the comment: {refused}",))


async def _write_comment(
    view: ReportView, target: PublishTarget, connection: Connection, *, api: Api, request: PullRequest
) -> Delivery:
    prefix, own_run = marker_prefix(view.context.key), parse_run(view.context.run)
    find = partial(
        find_comment,
        api,
        request.number,
        lambda body: body.startswith(prefix),
        graphql_url=connection.github.graphql_url,
    )
    old = await find()
    if old is None and not is_wanted(view, target.comment):
        return Delivery()
    if old is not None and parse_run(old.body) > own_run:
        return Delivery({"comment-url": old.url}, ("a newer run has commented already, so its comment stays",))
    if old is not None and parse_run(old.body) == own_run and not target.measured_here:
        return Delivery({"comment-url": old.url})  # the first workflow has commented already
    # The marker is not redacted: it must be found again, even if a secret is a part of it.
    first, _, rest = "".join(render(view)).partition("\n")
    body = f"{first}\n{target.redact(rest)}"
    comment = await put_comment(api, request.number, body, old=old, find=find)
    return Delivery({"comment-url": comment.url})


def is_wanted(view: ReportView, mode: CommentMode) -> bool:
    """Whether a new comment is wanted in this mode."""
    failed = view.conclusion is not Conclusion.PASSED
    if mode is CommentMode.FAILURES:
        return failed
    changed = any(row.state in _CHANGED for row in view.rows) or bool(view.gone or view.newly_failing)
    changed = changed or bool(view.shown_exemptions) or any(case.fails for case in view.quarantined)
    return mode is CommentMode.ALWAYS or (mode is CommentMode.CHANGES and (failed or changed))
