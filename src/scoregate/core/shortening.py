"""Events that no record could hold, with the start of what is free in them."""

from __future__ import annotations

from dataclasses import replace

from scoregate.core.events import CaseOutput, CaseStarted, Errored, Event, Scored
from scoregate.core.wire import dump

_START_BYTES = 100_000


def shortened(event: Event, why: str) -> Event:
    """The event with the first 100 kB of what is free in it, and a note that says why the rest was left out.

    Raises:
        ValueError: nothing in it is free.
    """
    note = f"… left out: {why}"
    if isinstance(event, CaseStarted):
        return replace(event, input=_start(event.input) + note)
    if isinstance(event, CaseOutput):
        return replace(event, output=_start(event.output) + note, truncated=True)
    if isinstance(event, Scored):
        return replace(event, metadata={"metadata": _start(event.metadata) + note}, assertions=None)
    if isinstance(event, Errored):
        return replace(event, error=replace(event.error, message=note, traceback=""))
    raise ValueError(f"a {event.type} event: {why}")


def _start(value: object) -> str:
    try:
        return dump(value)[:_START_BYTES].decode("utf-8", "ignore")
    except ValueError:
        return ""
