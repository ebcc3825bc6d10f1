"""Run a suite of tests to its end, and say so in its log."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import perf_counter

from scoregate.core.suite import Suite
from scoregate.engine.environment import events_folder
from scoregate.engine.log import EventLog
from scoregate.engine.run_suite import finish, run_suite
from scoregate.engine.sync import run_sync


def run_tests(suite: Suite, folder: Path | None = None) -> EventLog:
    """Run it here, and wait: its log has all that came of it.

    Args:
        folder: where events go; if not given, where the host listens, else to a temporary file.
    """
    started = perf_counter()
    (log,) = run_sync(partial(run_suite, suite, folder or events_folder(), reuses=True), apart=True)
    finish(log, started)
    return log
