"""Run a suite under its name: the step that the APIs of all SDKs share.

A comparison pairs suites by name, so each suite of a process has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scoregate.core.suite import Suite
from scoregate.engine.driver import Front, _run, check_name
from scoregate.engine.event_log import EventLog


def run_named_suite(
    suite: Suite,
    folder: Path | None,
    *,
    is_main: bool,
    reuses: bool = False,
    in_new_thread: bool = False,
) -> Sequence[EventLog]:
    """Run every variant of a suite. If a suite with its name ran before, it has an error and can't be measured.

    Args:
        suite: the suite.
        folder: the folder that the host reads; None without a host.
        is_main: whether the file that runs the suite is the one that Python was started with.
        reuses: whether results of an earlier run may be used again.
        in_new_thread: whether the suite runs in a thread that doesn't keep the process from ending.

    Returns:
        The logs of the variants, which still need their last events.
    """
    front = Front(lambda _: suite)
    front.reuses, front.in_new_thread = reuses, in_new_thread
    return _run(check_name(suite, folder, is_main=is_main), folder, front, None)
