"""The publishers of a report, in one table; those of features come after them."""

from __future__ import annotations

from collections.abc import Sequence

from scoregate.kernel.job.publish.comment import publish_comment
from scoregate.kernel.job.publish.data_branch import publish_to_branch
from scoregate.kernel.job.publish.delivery import Publisher
from scoregate.kernel.job.publish.files import publish_files
from scoregate.kernel.job.publish.job_log import publish_annotations, publish_summary

PUBLISHERS: Sequence[Publisher] = (
    publish_files,
    publish_summary,
    publish_annotations,
    publish_comment,
    publish_to_branch,
)
