"""Findings shown at the lines of the suites that they are about."""

from __future__ import annotations

from scoregate.ci.github.commands import command
from scoregate.ci.publish.outlet import Delivery, Outlet
from scoregate.ci.report.annotations import annotate
from scoregate.ci.report.view import ReportView


async def publish_annotations(view: ReportView, outlet: Outlet) -> Delivery:
    """Write them to the log as commands."""
    if outlet.connection is not None and outlet.annotations:
        for each in annotate(view):
            place = {"file": outlet.redact(each.file), "line": each.line} if each.file else {}
            outlet.log(command(each.level, outlet.redact(each.message), **place, title=outlet.redact(each.title)))
    return Delivery()
