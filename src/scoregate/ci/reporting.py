"""The composition root around a run: the sources of baselines, the reports and their publishers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from scoregate.ci.baseline.artifact import find_artifact_baseline
from scoregate.ci.baseline.data_branch import find_branch_baseline
from scoregate.ci.baseline.file import find_file_baseline
from scoregate.ci.baseline.previous import find_previous_baseline
from scoregate.ci.baseline.rerun import check_base_exists
from scoregate.ci.job import JobContext, make_publish_target, make_report_context
from scoregate.ci.ports import Reporting
from scoregate.ci.publish.check_run import CheckRun
from scoregate.ci.publish.comment import publish_comment
from scoregate.ci.publish.data_branch import publish_to_branch
from scoregate.ci.publish.delivery import Delivery, Publisher, Render, deliver
from scoregate.ci.publish.files import publish_files
from scoregate.ci.publish.job_log import publish_annotations, publish_summary
from scoregate.ci.report import html, junit, markdown, result_json
from scoregate.ci.report.build_view import build_view
from scoregate.ci.report.view import ReportView
from scoregate.core.agreement import Calibrations
from scoregate.core.run import Run
from scoregate.store import open_store, read_calibrations
from scoregate.store.apply_reviews import apply_reviews


def apply_stored_reviews(root: Path) -> Callable[[Run], Run]:
    """A function that applies the reviews in a project's store to a run.

    It blocks while it reads the store, and raises `StoreError` if it can't.
    """
    return partial(apply_reviews, store=partial(open_store, root))


def load_calibrations(root: Path) -> Calibrations:
    """Load how well each judge agrees with people, from the reviews in a project's store.

    Raises:
        StoreError: the store can't be read.
    """
    return read_calibrations(open_store(root))


REPORTS: Mapping[str, tuple[str, Render]] = {
    "junit": ("junit.xml", junit.render),
    "markdown": ("comment.md", markdown.render),
    "json": ("result.json", result_json.render),
    "html": ("report.html", html.render),
}
PUBLISHERS: tuple[Publisher, ...] = (
    publish_files,
    publish_summary,
    publish_annotations,
    publish_comment,
    publish_to_branch,
)


def build_reporting(context: JobContext, *, is_developers_run: bool = False) -> Reporting:
    """Build the sources of baselines, in order, and the publishers of reports.

    Args:
        context: the job's context.
        is_developers_run: whether `scoregate run` runs the suites on a developer's machine.
    """
    check = _check(context)
    connection, base = context.connection, context.base
    return Reporting(
        baselines=(
            partial(find_file_baseline, context.root),
            partial(find_previous_baseline, context.root, is_usable=is_developers_run),
            partial(find_artifact_baseline, connection=connection, base=base),
            partial(find_branch_baseline, connection=connection, base=base),
            partial(check_base_exists, context.root, base=base),
        ),
        apply_reviews=apply_stored_reviews(context.root),
        calibrations=partial(load_calibrations, context.root),
        announce=check.open if check else nullcontext,
        build_view=lambda comparison, verdict: build_view(comparison, verdict, make_report_context(context)),
        publish=partial(_publish, context, (*PUBLISHERS, check.publish) if check else PUBLISHERS),
    )


def _check(context: JobContext) -> CheckRun | None:
    connection, subject = context.connection, context.subject
    if not context.settings.check_run or connection is None or connection.api is None or subject is None:
        return None
    return None if subject.read_only else CheckRun(connection.api, subject.commit, connection.key, subject.run_url)


async def _publish(context: JobContext, publishers: Sequence[Publisher], view: ReportView) -> Delivery:
    return await deliver(view, make_publish_target(context, dict(REPORTS.values())), publishers)
