"""Run a suite: workers pull trials from an iterator, in two bounded stages."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter

import anyio
from anyio import CapacityLimiter

from scoregate.core.endings import closing
from scoregate.core.metering import Meter, gathering
from scoregate.core.parts import ErrorInfo
from scoregate.core.suite import Suite
from scoregate.core.wire import ordered, plain
from scoregate.engine.log import EventLog
from scoregate.engine.patience import Patience
from scoregate.engine.scoring import Pool
from scoregate.engine.tasks import TaskStage
from scoregate.engine.telling import spent
from scoregate.engine.trial import Trial, tell_stop, trials
from scoregate.version import __version__


async def run_suite(suite: Suite, folder: Path | None, *, reuses: bool = False) -> list[EventLog]:
    """Run every variant of a suite.

    Args:
        suite: what to run.
        folder: where the event logs go; None for temporary ones.
        reuses: whether results of an earlier run that the host offers go into the logs; who reads more than the logs
            does not.

    Returns:
        A log for each variant, not yet finished: `finish` says the last word.
    """
    strays, patience = Meter(), Patience(suite.limits.scoring_s)
    logs = [_start(suite, variant, folder, strays=strays) for variant in range(len(suite.variants))]
    with gathering(strays):
        async with closing(), patience.bounding():
            await _run(suite, _source(suite, logs, reuses), patience)
    for log in logs if patience.over else ():
        log.given_up = True
        log.emit("errored", stage="suite", error=_late(suite))
    return logs


def _source(suite: Suite, logs: Sequence[EventLog], reuses: bool) -> Iterator[Trial]:
    if not (reuses and os.environ.get("SCOREGATE_REUSE")):
        return trials(suite, logs)
    from scoregate.engine.reuse import Replay

    return trials(suite, logs, is_done=Replay(suite))


def _start(suite: Suite, variant: int, folder: Path | None, *, strays: Meter) -> EventLog:
    params = suite.variants[variant]
    log = EventLog(suite.id, folder, strays)
    log.emit(
        "suite_started",
        origin=suite.origin,
        evaluators=tuple(scorer.info for scorer in suite.evaluators),
        cases=suite.trials,
        params=None if params is None else plain(ordered(params)),
        sdk=f"scoregate {__version__}",
        message=suite.message,
    )
    for problem in suite.problems:
        log.emit("errored", stage="suite", error=problem)
    return log


def _late(suite: Suite) -> ErrorInfo:
    return ErrorInfo(
        "TimeoutError",
        f"the evaluators took longer than {suite.limits.scoring_s:g} s; what they had not done by then was given up",
        advice="Allow more seconds, or more of them at a time.",
    )


async def _run(suite: Suite, source: Iterator[Trial], patience: Patience) -> None:
    total = suite.trials * len(suite.variants)
    case_workers = min(suite.limits.max_case_concurrency, total)
    limiter = CapacityLimiter(max(1, case_workers + sum(min(s.max_concurrency, total) for s in suite.evaluators)))
    last = Pool(suite.conclusion, limiter, abandon=patience.bounded) if suite.conclusion else None
    pools = [Pool(scorer, limiter, then=last, abandon=patience.bounded) for scorer in suite.scorers]
    stage = TaskStage(suite, pools, limiter, patience=patience)
    async with _working([last] if last else [], total), _working(pools, total), anyio.create_task_group() as tasks:
        for _ in range(case_workers):
            tasks.start_soon(stage.work, source)
        await _look_ahead()


@asynccontextmanager
async def _working(pools: Sequence[Pool], total: int) -> AsyncIterator[None]:
    """The workers of these pools, until they are through with what the block gives them."""
    async with anyio.create_task_group() as scoring:
        for pool in pools:
            for _ in range(min(pool.scorer.max_concurrency, total)):
                scoring.start_soon(pool.work, scoring)
        yield
        for pool in pools:
            pool.channel.close()


async def _look_ahead() -> None:
    """While the first cases wait for what they called, bring in what is needed at the end."""
    await anyio.lowlevel.checkpoint()
    import scoregate.engine.results  # noqa: F401


def finish(log: EventLog, started: float, *, assertion_failed: bool = False) -> None:
    """Say that a suite has ended, and what was used for it that belongs to no case.

    `started` is a reading of `time.perf_counter`.
    """
    tell_stop(log, log.strays)
    duration_s, usage = round(perf_counter() - started, 4), log.strays.take()
    log.emit("suite_finished", duration_s=duration_s, assertion_failed=assertion_failed, **spent(usage))
