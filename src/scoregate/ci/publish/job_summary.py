"""The job's summary: the same report with more room."""

from __future__ import annotations

from scoregate.ci.publish.outlet import Delivery, Outlet
from scoregate.ci.report.markdown import render_summary
from scoregate.ci.report.view import ReportView

# GitHub drops a summary of more than 1 MiB as a whole.
LIMIT = 1_048_576
_SPARE = 4_096


async def publish_summary(view: ReportView, outlet: Outlet) -> Delivery:
    """Append it to what the step has said so far."""
    if outlet.connection is None or (file := outlet.connection.github.summary) is None:
        return Delivery()
    used = file.stat().st_size if file.exists() else 0
    text = outlet.redact("".join(render_summary(view, budget=LIMIT - _SPARE - used)))
    if used + len(text.encode()) >= LIMIT:
        return Delivery(warnings=("the job's summary is full: this report is not in it",))
    try:
        with file.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(f"{text}\n")
    except OSError as error:
        return Delivery(warnings=(f"the job's summary could not be written: {error.strerror}",))
    return Delivery()
