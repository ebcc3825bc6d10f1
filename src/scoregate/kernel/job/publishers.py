"""The publishers of a report; those of features come after them."""

from __future__ import annotations

from collections.abc import Sequence

from scoregate.kernel.job.publish.delivery import Publisher, PublishTarget
from scoregate.kernel.job.publish.files import publish_files


def list_publishers(target: PublishTarget) -> Sequence[Publisher]:
    """What delivers a report, in order: files, and in a job what GitHub shows and stores."""
    if target.connection is None:
        return (publish_files,)
    from scoregate.kernel.job.publish.comment import publish_comment
    from scoregate.kernel.job.publish.data_branch import publish_to_branch
    from scoregate.kernel.job.publish.job_log import publish_annotations, publish_summary

    return (publish_files, publish_summary, publish_annotations, publish_comment, publish_to_branch)
