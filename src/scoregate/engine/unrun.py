"""A suite that could not be run."""

from __future__ import annotations

from time import perf_counter

from scoregate.core.parts import ErrorInfo
from scoregate.engine.environment import events_folder, message
from scoregate.engine.log import EventLog
from scoregate.engine.origin import caller
from scoregate.engine.run_suite import finish


def tell_unrun(suite: str, error: ErrorInfo) -> None:
    """Record that a suite could not be run, so that nobody takes it for a success."""
    log = EventLog(suite, events_folder())
    log.emit("suite_started", origin=caller(), cases=0, message=message())
    log.emit("errored", stage="suite", error=error)
    finish(log, perf_counter())
