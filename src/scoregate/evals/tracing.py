"""Record what a task does, for scorers that ask for the trace. Other suites never import this module."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from scoregate.engine.calls import is_async
from scoregate.errors import MissingExtra
from scoregate.evals.rows import Row
from scoregate.evals.task import Outcome
from scoregate.kernel.types.task_trace import ModelCall, TaskTrace
from scoregate.kernel.types.trajectories.trace import read_trace
from scoregate.kernel.types.usage import METER
from scoregate.offline_tests.tracer import OfflineTracer, Recording, observes_tools


class TaskRecorder:
    """Records the calls of models and the spans of a task.

    Args:
        name: the name of the task in its first span.
        reads_trajectory: whether a scorer asks for the trajectory, which is read from calls and spans then.
    """

    def __init__(self, name: str, *, reads_trajectory: bool = False) -> None:
        self._name = name
        self._reads_trajectory = reads_trajectory
        self._tracer: OfflineTracer | None = None
        with suppress(MissingExtra):
            self._tracer = OfflineTracer()

    def record(self, run: Callable[[Row], Any]) -> Callable[[Row], Any]:
        """The same task with the trace in its outcome.

        Args:
            run: the task that `make_task` made.
        """

        async def run_in_loop(row: Row) -> Outcome:
            calls, spans = self._begin(row)
            with _open(spans):
                outcome: Outcome = await run(row)
            return self._finish(outcome, calls, spans)

        async def finish_later(awaitable: Awaitable[Outcome], calls: list[ModelCall], spans: Any) -> Outcome:
            with _open(spans):
                outcome = await awaitable
            return self._finish(outcome, calls, spans)

        def run_in_thread(row: Row) -> Any:
            calls, spans = self._begin(row)
            with _open(spans):
                result = run(row)
            return (
                finish_later(result, calls, spans)
                if inspect.isawaitable(result)
                else self._finish(result, calls, spans)
            )

        return run_in_loop if is_async(run) else run_in_thread

    def _begin(self, row: Row) -> tuple[list[ModelCall], Recording | None]:
        calls: list[ModelCall] = []
        if (meter := METER.get()) is not None:
            meter.calls = calls  # a retry has a list of its own
        return calls, None if self._tracer is None else self._tracer.begin(self._name, row.input)

    def _finish(self, outcome: Outcome, calls: list[ModelCall], spans: Recording | None) -> Outcome:
        if spans is not None:
            spans.end(outcome.value)
        recorded = None if spans is None else spans.trace
        trace = TaskTrace(tuple(calls), () if recorded is None else recorded.spans)
        trajectory = outcome.trajectory
        if trajectory is None and self._reads_trajectory:
            trajectory = read_trace(trace, records_tools=recorded is not None and observes_tools())
        return replace(outcome, trace=trace, trajectory=trajectory)


@contextmanager
def _open(spans: Recording | None) -> Iterator[None]:
    """A block whose spans belong to the recording. After an exception, the recording is dropped."""
    if spans is None:
        yield
        return
    try:
        with spans.active():
            yield
    except BaseException:
        spans.end()
        assert spans.trace is not None
        raise
