"""Every publisher in turn; what one cannot deliver is a warning and never stops the others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeAlias

from scoregate.ci.github.commands import command
from scoregate.ci.publish.outlet import Delivery, Outlet, described
from scoregate.ci.publish.outputs import write_outputs
from scoregate.ci.report.view import ReportView
from scoregate.errors import ScoregateError

MOST_WARNINGS = 5
Publisher: TypeAlias = Callable[[ReportView, Outlet], Awaitable[Delivery]]


async def deliver(view: ReportView, outlet: Outlet, publishers: Iterable[Publisher]) -> Delivery:
    """Deliver the reports and set the step's outputs.

    Returns:
        What came of it all; in a job, the log has its warnings as well.
    """
    whole = Delivery()
    for publisher in publishers:
        whole += await _delivered(publisher(view, outlet))
    whole += await _delivered(write_outputs(view, outlet, whole.outputs))
    if outlet.connection is not None:
        _warn(whole.warnings, outlet)
    return whole


def _warn(warnings: Sequence[str], outlet: Outlet) -> None:
    """As the runner shows no more than ten of a kind, the last ones stand together."""
    rest = "\n".join(warnings[MOST_WARNINGS - 1 :])
    for warning in (*warnings[: MOST_WARNINGS - 1], *filter(None, (rest,))):
        outlet.log(command("warning", outlet.redact(warning), title="scoregate"))


async def _delivered(work: Awaitable[Delivery]) -> Delivery:
    try:
        return await work
    except ScoregateError as error:
        return Delivery(warnings=(str(error),))
    except OSError as error:
        return Delivery(warnings=(f"{error.filename or 'a file'} could not be written: {error.strerror}",))
    except Exception as error:  # what one publisher does not expect must not cost the others, nor the exit code
        return Delivery(warnings=(described(error),))
