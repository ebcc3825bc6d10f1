"""Annotations in the log of a job, and the summary of a job."""

from __future__ import annotations

from scoregate.ci.github.commands import command
from scoregate.ci.publish.delivery import Delivery, PublishTarget
from scoregate.ci.report.annotations import annotate
from scoregate.ci.report.markdown import render_summary
from scoregate.ci.report.view import ReportView


async def publish_annotations(view: ReportView, outlet: PublishTarget) -> Delivery:
    """Write annotations to the log, as commands of the runner."""
    if outlet.connection is not None and outlet.annotations:
        for each in annotate(view):
            place = {"file": outlet.redact(each.file), "line": each.line} if each.file else {}
            outlet.log(command(each.level, outlet.redact(each.message), **place, title=outlet.redact(each.title)))
    return Delivery()


# GitHub drops a summary of more than 1 MiB completely.
LIMIT = 1_048_576
_SPARE = 4_096


async def publish_summary(view: ReportView, outlet: PublishTarget) -> Delivery:
    """Append the report to the summary of the step."""
    if outlet.connection is None or (file := outlet.connection.github.summary) is None:
        return Delivery()
    used = file.stat().st_size if file.exists() else 0
    text = outlet.redact("".join(render_summary(view, budget=LIMIT - _SPARE - used)))
    if used + len(text.encode()) >= LIMIT:
        return Delivery(warnings=("the summary of the job is full, so the report is not in it",))
    with file.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write(f"{text}\n")
    return Delivery()
