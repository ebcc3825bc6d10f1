"""Every publisher in turn; what one cannot deliver is a warning and never stops the others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from scoregate.ci.github.commands import command
from scoregate.ci.publish.outlet import Delivery, Outlet
from scoregate.ci.publish.outputs import write_outputs
from scoregate.ci.report.view import ReportView
from scoregate.errors import GitHubRefused

MOST_WARNINGS = 5
Publisher: TypeAlias = Callable[[ReportView, Outlet], Awaitable[Delivery]]


async def deliver(view: ReportView, outlet: Outlet, publishers: Iterable[Publisher]) -> tuple[str, ...]:
    """Deliver the reports and set the step's outputs.

    Returns:
        What could not be delivered, and why; in a job, the log has the same as warnings.
    """
    outputs: dict[str, str] = {}
    warnings: list[str] = []
    for publisher in publishers:
        delivery = await _delivered(publisher, view, outlet)
        outputs |= delivery.outputs
        warnings += delivery.warnings
    write_outputs(view, outlet, outputs)
    if outlet.connection is not None:
        for warning in (*warnings[: MOST_WARNINGS - 1], *_together(warnings[MOST_WARNINGS - 1 :])):
            outlet.log(command("warning", outlet.redact(warning), title="scoregate"))
    return tuple(warnings)


def _together(warnings: list[str]) -> list[str]:
    return ["\n".join(warnings)] if warnings else []


async def _delivered(publisher: Publisher, view: ReportView, outlet: Outlet) -> Delivery:
    try:
        return await publisher(view, outlet)
    except GitHubRefused as refused:
        return Delivery(warnings=(str(refused),))
