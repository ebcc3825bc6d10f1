"""Complete the run of a suite: write its last events, print the summary, and return the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scoregate.engine.eval_result import EvalResult
from scoregate.engine.event_log import EventLog
from scoregate.engine.exit_status import fail_at_exit, is_unmeasured
from scoregate.engine.notebook import NotebookProgress
from scoregate.engine.results import make_result, reduce_log
from scoregate.engine.run import finish_suite
from scoregate.errors import SuiteFailed


def complete_run(
    logs: Sequence[EventLog],
    started: float,
    *,
    assert_test: bool,
    alone: bool,
    is_main: bool,
    progress: NotebookProgress | None = None,
) -> EvalResult:
    """Finish every log of a suite and return the result.

    Args:
        logs: the logs of the suite's variants.
        started: the value of `time.perf_counter` when the suite started.
        assert_test: whether a suite that does not pass raises.
        alone: whether no host reads the logs; then the summary is printed, except in a notebook.
        is_main: whether the file that runs the suite is the one that Python was started with. If it is alone, too, and
            nothing was measured, the process ends with exit code 3.
        progress: the line in a notebook, which shows the result as a table.

    Raises:
        SuiteFailed: `assert_test` is set and the suite did not pass.
    """
    for log in logs:
        failed = assert_test and not replace(reduce_log(log), complete=True).passed
        finish_suite(log, started, assertion_failed=failed)
    result = make_result(logs)
    if progress is not None:
        progress.finish(passed=result.passed)
    if alone or assert_test:
        from scoregate.engine.summary import summary
        from scoregate.engine.terminal import print_text

        if alone and progress is None:
            print_text(summary(result))
        if assert_test and not result.passed:
            raise SuiteFailed(summary(result))
    if alone and is_main and is_unmeasured(result):
        fail_at_exit()
    return result
