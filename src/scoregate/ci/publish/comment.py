"""The comment on the pull request, kept up to date."""

from __future__ import annotations

from functools import partial

from scoregate.ci.github.api import Api
from scoregate.ci.github.connection import Connection
from scoregate.ci.github.event import PullRequest
from scoregate.ci.github.sticky import find_comment, put_comment
from scoregate.ci.publish.outlet import Delivery, Outlet
from scoregate.ci.report.markdown import render
from scoregate.ci.report.marker import marker_of, run_of
from scoregate.ci.report.row_views import State
from scoregate.ci.report.view import ReportView
from scoregate.ci.settings import CommentMode
from scoregate.core.rules import Conclusion
from scoregate.errors import GitHubRefused

_PENDING = {"comment-pending": "true"}
_NO_TOKEN = "no comment was written, since no token was given: set github-token"
_CHANGED = {State.FAILED, State.WORSE, State.BETTER, State.NEW, State.REMOVED, State.NOT_COMPARABLE}


async def publish_comment(view: ReportView, outlet: Outlet) -> Delivery:
    """Write or update it. One that is there is always updated, so that it never tells of an older state."""
    connection, request = outlet.connection, outlet.request
    if connection is None or request is None or outlet.comment is CommentMode.OFF:
        return Delivery()
    if outlet.read_only:
        return Delivery(_PENDING)
    if connection.api is None:
        return Delivery(_PENDING, (_NO_TOKEN,))
    try:
        return await _written(view, outlet, connection, api=connection.api, request=request)
    except GitHubRefused as refused:
        return Delivery(_PENDING, (f"the comment could not be written: {refused}",))


async def _written(
    view: ReportView, outlet: Outlet, connection: Connection, *, api: Api, request: PullRequest
) -> Delivery:
    mark, mine = marker_of(view.context.key), run_of(view.context.run)
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
    if old is not None and _stays(old.body, mine, outlet):
        return Delivery({"comment-url": old.url}, ("this run or a newer one has commented already; that stays",))
    # The marker must be found again, even where somebody's secret is a word in it.
    first, _, rest = "".join(render(view)).partition("\n")
    body = f"{first}\n{outlet.redact(rest)}"
    comment = await put_comment(api, request.number, body, old=old, find=find)
    return Delivery({"comment-url": comment.url})


def _stays(body: str, mine: tuple[int, int], outlet: Outlet) -> bool:
    """Whether a comment that is there tells of something newer, or of the same from where it was measured."""
    theirs = run_of(body)
    return theirs > mine or (theirs == mine and not outlet.measured_here)


def is_wanted(view: ReportView, mode: CommentMode) -> bool:
    """Whether there is enough to say for a comment that is not there yet."""
    failed = view.conclusion is not Conclusion.PASSED
    if mode is CommentMode.FAILURES:
        return failed
    changed = any(row.state in _CHANGED for row in view.rows) or bool(view.gone or view.newly_failing)
    return mode is CommentMode.ALWAYS or (mode is CommentMode.CHANGES and (failed or changed))
