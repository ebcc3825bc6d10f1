"""The comment on the pull request with the report; answers to commands stay in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from scoregate.errors import GitHubRefused
from scoregate.kernel.job.publish.answers import find_answers
from scoregate.kernel.job.publish.comment_store import Comment, find_comment, put_comment
from scoregate.kernel.job.publish.delivery import PENDING, Delivery, PublishTarget
from scoregate.kernel.judge.settings import CommentMode
from scoregate.kernel.report.context import ReportContext
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
    """Create or update the comment with the report."""
    wanted = is_wanted(view, target.comment)
    return await write_comment(target, view.context, lambda: "".join(render(view)), is_wanted=wanted)


async def write_comment(
    target: PublishTarget,
    context: ReportContext,
    render_body: Callable[[], str],
    *,
    is_wanted: bool,
    name: str = "scoregate",
) -> Delivery:
    """Create or update a comment. An existing comment is always updated, so that it is never outdated.

    Args:
        target: where it can go.
        context: the job that writes it.
        render_body: renders it; the first line is its marker.
        is_wanted: whether a new one is written.
        name: its name in its marker.
    """
    connection, request = target.connection, target.request
    if connection is None or request is None or target.comment is CommentMode.OFF:
        return Delivery()
    if target.read_only or connection.api is None:
        return Delivery(_PENDING, () if target.read_only else (_NO_TOKEN,))
    prefix = marker_prefix(context.key, name)
    find = partial(
        find_comment,
        connection.api,
        request.number,
        lambda body: body.startswith(prefix),
        graphql_url=connection.github.graphql_url,
    )
    try:
        old = await find()
        if old is None and not is_wanted:
            return Delivery()
        if old is not None and (kept := _find_newer(old, target, context)) is not None:
            return kept
        # The marker is not redacted: it must be found again, even if a secret is a part of it.
        first, _, rest = render_body().partition("\n")
        answers = find_answers(old.body) if old is not None else ""
        body = "\n".join(filter(None, (first, target.redact(rest), answers)))
        comment = await put_comment(connection.api, request.number, body, old=old, find=find)
    except GitHubRefused as refused:
        return Delivery(_PENDING, (f"cannot write the comment: {refused}",))
    return Delivery({"comment-url": comment.url})


def _find_newer(old: Comment, target: PublishTarget, context: ReportContext) -> Delivery | None:
    """The result if the existing comment stays as it is."""
    run, own_run = parse_run(old.body), parse_run(context.run)
    if run > own_run:
        return Delivery({"comment-url": old.url}, ("a newer run has commented already, so its comment stays",))
    is_done = run == own_run and not target.measured_here  # the first workflow has commented already
    return Delivery({"comment-url": old.url}) if is_done else None


def is_wanted(view: ReportView, mode: CommentMode) -> bool:
    """Whether a new comment is wanted in this mode."""
    failed = view.verdict.conclusion is not Conclusion.PASSED
    if mode is CommentMode.FAILURES:
        return failed
    changed = any(row.state in _CHANGED for row in view.rows) or bool(view.baseline.gone or view.notable.newly_failing)
    changed = changed or any(section.wants_comment for section in view.sections)
    return mode is CommentMode.ALWAYS or (mode is CommentMode.CHANGES and (failed or changed))
