"""Run a suite to its end: the one way of the APIs of all SDKs. An API only translates its own types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from scoregate.engine.environment import Selection, events_folder, read_selection, run_message
from scoregate.engine.event_log import EventLog
from scoregate.engine.exit_status import fail_at_exit, is_called_by_script, is_unmeasured
from scoregate.engine.imports import caller_origin
from scoregate.engine.run import finish_suite, run_suite
from scoregate.engine.suite_names import claim_name
from scoregate.engine.sync import run_sync
from scoregate.errors import DiskFull
from scoregate.kernel.types.suite import Suite

if TYPE_CHECKING:
    from scoregate.engine.eval_result import EvalResult


class Front:
    """What the API of an SDK adds to the run of a suite. By default it runs in silence.

    Args:
        build: makes the suite of the selected cases. It is not called for a suite that is not selected.
        title: the title of the run, unless the environment sets one.

    Attributes:
        reuses: whether results of an earlier run that the host offers go into the log. False for an API that needs
            more than the log.
        in_new_thread: whether the suite runs in a thread that doesn't keep the process from ending, also without a
            time limit.
        may_skip: whether a suite does not start if the run is limited to cases that it does not have.
        needs_scores: whether a suite without scorers, run by its own script, ends with exit code 3.
    """

    reuses = True
    in_new_thread = True
    may_skip = False
    needs_scores = True

    def __init__(self, build: Callable[[Selection], Suite], *, title: str | None = None) -> None:
        self.build, self.title = build, title

    def start(self, suite: Suite, *, alone: bool) -> AbstractContextManager[Callable[[], None] | None]:  # noqa: ARG002
        """Called before the first case.

        Args:
            suite: the suite that runs.
            alone: whether no host reads the events.

        Returns:
            A context for the run. Its value is called after every finished trial.
        """
        return nullcontext()

    def end_log(self, log: EventLog) -> bool:  # noqa: ARG002
        """Write the last events of this API to the log of a variant.

        Returns:
            Whether an assertion of the user's test failed.
        """
        return False

    def conclude(self, result: EvalResult, *, alone: bool) -> None:
        """Show the result, or raise the exception of a suite that did not pass.

        Args:
            result: the result of the suite.
            alone: whether no host reads the events.
        """


def run_to_end(name: str, front: Front) -> EvalResult:
    """Run a suite under its name, unless it is not selected.

    If the user's script runs by itself and no case has a result, the process ends with exit code 3.

    Args:
        name: the name by which the suite is selected.
        front: the API that runs the suite.

    Returns:
        The result, which reads its cases on access.
    """
    is_main, selection, folder = is_called_by_script(), read_selection(), events_folder()
    started = perf_counter()
    suite = front.build(selection) if selection.includes(name) else None
    if suite is None or (front.may_skip and selection.leaves_out(suite)):
        from scoregate.engine.eval_result import make_skipped_result

        return make_skipped_result(name)
    suite = replace(suite, origin=caller_origin(), message=run_message() or front.title)
    with front.start(suite, alone=folder is None) as advance:
        taken = claim_name(suite.id, suite.origin, folder, is_main=is_main, variants=suite.variants)
        logs = _run(replace(suite, problems=(*suite.problems, *taken)), folder, front, advance)
    from scoregate.engine.results import make_result

    for log in logs:
        finish_suite(log, started, assertion_failed=front.end_log(log))
    result = make_result(logs)
    front.conclude(result, alone=folder is None)
    if folder is None and is_main and (front.needs_scores or suite.scorers) and is_unmeasured(result):
        fail_at_exit()
    return result


def _run(suite: Suite, folder: Path | None, front: Front, advance: Callable[[], None] | None) -> Sequence[EventLog]:
    run = partial(run_suite, suite, folder, reuses=front.reuses, advance=advance)
    try:
        return run_sync(run, in_new_thread=front.in_new_thread or suite.limits.timeout_s is not None)
    except BaseExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        if isinstance(first, DiskFull):  # every case has this error
            raise first from None
        raise
