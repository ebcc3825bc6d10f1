"""The comment on the pull request with the report; answers to commands stay in it."""

from __future__ import annotations

from functools import partial

from scoregate.errors import GitHubRefused
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import Connection, PullRequest
from scoregate.kernel.job.publish.answers import find_answers
from scoregate.kernel.job.publish.comment_store import find_comment, put_comment
from scoregate.kernel.job.publish.delivery import PENDING, Delivery, PublishTarget
from scoregate.kernel.judge.settings import CommentMode
from scoregate.kernel.report.markdown import marker_prefix, parse_run, render
from scoregate.kernel.report.rows import ReportState
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion

_PENDING = {PENDING: "true"}
_NO_TOKEN = "no comment was written: there is no token; set github-token"
_CHANGED = {
    ReportState.FAILED,
    ReportState.WORSE,
    ReportState.ACCEPTED,
    ReportState.EXPLAINED,
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
    answers = find_answers(old.body) if old is not None else ""
    body = "\n".join(filter(None, (first, target.redact(rest), answers)))
    comment = await put_comment(api, request.number, body, old=old, find=find)
    return Delivery({"comment-url": comment.url})


def is_wanted(view: ReportView, mode: CommentMode) -> bool:
    """Whether a new comment is wanted in this mode."""
    failed = view.verdict.conclusion is not Conclusion.PASSED
    if mode is CommentMode.FAILURES:
        return failed
    changed = any(row.state in _CHANGED for row in view.rows) or bool(view.baseline.gone or view.notable.newly_failing)
    changed = changed or any(section.wants_comment for section in view.sections)
    return mode is CommentMode.ALWAYS or (mode is CommentMode.CHANGES and (failed or changed))
