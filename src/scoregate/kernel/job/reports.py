"""The reports and their publishers, in two tables. Each is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scoregate.kernel.job.publish.delivery import Publisher, PublishTarget, Render

# By format: the name of the file, and the module in `kernel/report/` with the function `render`.
REPORTS: Mapping[str, tuple[str, str]] = {
    "junit": ("junit.xml", "junit"),
    "markdown": ("comment.md", "markdown"),
    "json": ("result.json", "result_json"),
    "html": ("report.html", "html"),
}
# Formats that only `scoregate report` writes.
ON_REQUEST: Mapping[str, str] = {"ctrf": "ctrf"}


def load_renderer(form: str) -> Render:
    """Import the function that renders a format."""
    module = ON_REQUEST[form] if form in ON_REQUEST else REPORTS[form][1]
    render: Render = import_module(f"scoregate.kernel.report.{module}").render
    return render


def load_renderers() -> dict[str, Render]:
    """Import the functions that render all formats, by name of the file."""
    return {file: load_renderer(form) for form, (file, _) in REPORTS.items()}


def list_publishers(target: PublishTarget) -> Sequence[Publisher]:
    """What delivers a report, in order: files, and in a job what GitHub shows and stores."""
    from scoregate.kernel.job.publish.files import publish_files

    if target.connection is None:
        return (publish_files,)
    from scoregate.kernel.job.publish.comment import publish_comment
    from scoregate.kernel.job.publish.data_branch import publish_to_branch
    from scoregate.kernel.job.publish.job_log import publish_annotations, publish_summary

    return (publish_files, publish_summary, publish_annotations, publish_comment, publish_to_branch)
