"""Run a suite: workers pull trials from an iterator, in two bounded stages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import anyio
from anyio import CapacityLimiter

from scoregate import __version__
from scoregate.core.endings import closing
from scoregate.core.suite import Suite
from scoregate.core.wire import ordered, plain
from scoregate.engine.log import EventLog
from scoregate.engine.scoring import Pool
from scoregate.engine.tasks import TaskStage
from scoregate.engine.trial import Trial, trials


async def run_suite(suite: Suite, folder: Path | None) -> list[EventLog]:
    """Run every variant of a suite.

    Args:
        suite: what to run.
        folder: where the event logs go; None for temporary ones.

    Returns:
        A log for each variant, not yet finished: `finish` says the last word.
    """
    logs = [_start(suite, variant, folder) for variant in range(len(suite.variants))]
    async with closing():
        await _run(suite, trials(suite, logs))
    return logs


def _start(suite: Suite, variant: int, folder: Path | None) -> EventLog:
    params = suite.variants[variant]
    log = EventLog(suite.id, folder)
    log.emit(
        "suite_started",
        origin=suite.origin,
        evaluators=tuple(scorer.info for scorer in suite.scorers),
        cases=suite.trials,
        params=None if params is None else plain(ordered(params)),
        sdk=f"scoregate {__version__}",
        message=suite.message,
    )
    for problem in suite.problems:
        log.emit("errored", stage="suite", error=problem)
    return log


async def _run(suite: Suite, source: Iterator[Trial]) -> None:
    total = suite.trials * len(suite.variants)
    case_workers = min(suite.limits.max_case_concurrency, total)
    limiter = CapacityLimiter(max(1, case_workers + sum(min(s.max_concurrency, total) for s in suite.scorers)))
    pools = [Pool(scorer, limiter) for scorer in suite.scorers]
    stage = TaskStage(suite, pools, limiter)
    async with anyio.create_task_group() as scoring:
        for pool in pools:
            for _ in range(min(pool.scorer.max_concurrency, total)):
                scoring.start_soon(pool.work)
        async with anyio.create_task_group() as tasks:
            for _ in range(case_workers):
                tasks.start_soon(stage.work, source)
            await _look_ahead()
        for pool in pools:
            pool.channel.close()


async def _look_ahead() -> None:
    """While the first cases wait for what they called, bring in what is needed at the end."""
    await anyio.lowlevel.checkpoint()
    import scoregate.engine.results  # noqa: F401


def finish(log: EventLog, started: float, *, assertion_failed: bool = False) -> None:
    """Say that a suite has ended. `started` is a reading of `time.perf_counter`."""
    log.emit("suite_finished", duration_s=round(perf_counter() - started, 4), assertion_failed=assertion_failed)
