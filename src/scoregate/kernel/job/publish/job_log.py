"""Annotations in the log of a job, and the summary of a job."""

from __future__ import annotations

from scoregate.kernel.job.github.commands import command
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget
from scoregate.kernel.report.annotations import annotate
from scoregate.kernel.report.markdown import render_summary
from scoregate.kernel.report.view import ReportView


async def publish_annotations(view: ReportView, target: PublishTarget) -> Delivery:
    """Write annotations to the log, as commands of the runner."""
    if target.connection is not None and target.annotations:
        for each in annotate(view):
            place = {"file": target.redact(each.file), "line": each.line} if each.file else {}
            target.log(command(each.level, target.redact(each.message), **place, title=target.redact(each.title)))
    return Delivery()


# GitHub drops a summary of more than 1 MiB completely.
LIMIT = 1_048_576
_SPARE = 4_096


async def publish_summary(view: ReportView, target: PublishTarget) -> Delivery:
    """Append the report to the summary of the step."""
    if target.connection is None or (file := target.connection.github.summary) is None:
        return Delivery()
    used = file.stat().st_size if file.exists() else 0
    text = target.redact("".join(render_summary(view, budget=LIMIT - _SPARE - used)))
    if used + len(text.encode()) >= LIMIT:
        return Delivery(warnings=("the summary of the job is full, so the report is not in it",))
    with file.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write(f"{text}\n")
    return Delivery()
