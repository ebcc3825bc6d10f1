"""The publishers of a report, in one table."""

from __future__ import annotations

from collections.abc import Sequence

from scoregate.ci.publish.alert import publish_alert
from scoregate.ci.publish.check_run import CheckRun
from scoregate.ci.publish.comment import publish_comment
from scoregate.ci.publish.data_branch import publish_to_branch
from scoregate.ci.publish.delivery import Delivery, Publisher, PublishTarget, deliver
from scoregate.ci.publish.files import publish_files
from scoregate.ci.publish.job_log import publish_annotations, publish_summary
from scoregate.ci.publish.otlp import publish_to_collector
from scoregate.ci.report.view import ReportView
from scoregate.ci.shared_history import publish_to_history

PUBLISHERS: Sequence[Publisher] = (
    publish_files,
    publish_summary,
    publish_annotations,
    publish_comment,
    publish_to_branch,
    publish_to_history,
    publish_to_collector,
    publish_alert,
)
# Notices of features come after those of files, and before what takes time.
_PLACE = PUBLISHERS.index(publish_comment)


async def publish(
    view: ReportView, target: PublishTarget, check: CheckRun | None = None, *, more: Sequence[Publisher] = ()
) -> Delivery:
    """Deliver a report with all publishers, those of features among them; to `check` too if there is one."""
    own = (check.publish,) if check else ()
    return await deliver(view, target, (*PUBLISHERS[:_PLACE], *more, *PUBLISHERS[_PLACE:], *own))
