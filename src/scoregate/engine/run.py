"""Run a suite: workers pull trials from an iterator, in two bounded stages."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio
from anyio import CapacityLimiter

from scoregate.core.cleanup import close_at_end
from scoregate.core.events import ErrorInfo
from scoregate.core.json_io import sort_sets, to_plain
from scoregate.core.suite import Suite
from scoregate.core.usage import UsageMeter, collect_usage
from scoregate.engine.calls import Caller, PausableDeadline, is_transient, retry_delay_s
from scoregate.engine.environment import events_folder, run_message
from scoregate.engine.errors import EXIT_EXCEPTIONS, error_info
from scoregate.engine.event_log import EventLog
from scoregate.engine.imports import caller_origin
from scoregate.engine.scoring import Pool
from scoregate.engine.trial import (
    Trial,
    announce_trial,
    enter_trial,
    iterate_trials,
    report_budget_stop,
    usage_fields,
)
from scoregate.errors import NotRecordable, ScoregateError
from scoregate.version import __version__


class TaskStage:
    """Workers that pull trials and hand those that gave an output to the pools of scorers."""

    def __init__(
        self, suite: Suite, pools: Sequence[Pool], limiter: CapacityLimiter, *, patience: PausableDeadline
    ) -> None:
        self._suite = suite
        self._pools = pools
        self._task = patience.pausing(Caller(suite.task, limiter, timeout_s=suite.limits.timeout_s))
        self._hook = Caller(suite.hook, limiter, timeout_s=suite.limits.timeout_s) if suite.hook else None

    async def work(self, source: Iterator[Trial]) -> None:
        """Pull and run trials until there are no more."""
        for trial in source:
            enter_trial(trial, trial.meter)
            is_produced = await self._produced(trial)
            if trial.meter.used:
                report_budget_stop(trial.log, trial.meter)
            if is_produced:
                trial.waiting = len(self._pools)
                for pool in self._pools:
                    await pool.channel.put(trial)
            else:
                trial.log.emit("case_finished", **trial.key)

    async def _produced(self, trial: Trial) -> bool:
        try:
            announce_trial(trial, self._suite.describe(trial.case))
            await self._run(trial)
        except EXIT_EXCEPTIONS:
            raise
        except BaseException as error:  # the user's code may raise anything
            _keep_partial_output(trial, error)
            told = {**self._traced(trial), **usage_fields(trial.meter.usage), **trial.key}
            trial.log.emit("errored", stage="task", error=error_info(error), **told)
            return False
        return bool(self._pools)

    async def _run(self, trial: Trial) -> None:
        attempt = 1
        while True:
            try:
                return await self._attempt(trial, attempt)
            except Exception as error:
                if attempt > self._suite.limits.retries or not is_transient(error):
                    raise
            await anyio.sleep(retry_delay_s(attempt))
            attempt += 1

    def _traced(self, trial: Trial) -> dict[str, Any]:
        form = self._suite.trace_form
        trace = None if form is None or trial.output is None else form(trial.output)
        return {} if trace is None else {"trace": trace}

    async def _attempt(self, trial: Trial, attempt: int) -> None:
        started, waited_s = perf_counter(), trial.meter.waited_s
        trial.output = await self._task(trial.case.value)
        duration_ms = (perf_counter() - started - (trial.meter.waited_s - waited_s)) * 1000
        if self._hook is not None:
            trial.hook_results = await self._hook(trial.case.value, trial.output)
        trial.log.emit(
            "case_output",
            output=self._suite.output_form(trial.output),
            duration_ms=round(duration_ms, 3),
            attempts=attempt,
            **self._traced(trial),
            **usage_fields(trial.meter.usage),
            **trial.key,
        )


def _keep_partial_output(trial: Trial, error: BaseException) -> None:
    if isinstance(error, ScoregateError) and error.so_far is not None:
        with suppress(NotRecordable):
            trial.log.emit("case_output", output=error.so_far, **trial.key)


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
    strays, patience = UsageMeter(), PausableDeadline(suite.limits.scoring_s)
    logs = [_start_log(suite, variant, folder, strays=strays) for variant in range(len(suite.variants))]
    with collect_usage(strays):
        async with close_at_end(), patience.bounding():
            await _run_stages(suite, _open_source(suite, logs, reuses), patience)
    for log in logs if patience.over else ():
        log.given_up = True
        log.emit("errored", stage="suite", error=_deadline_error(suite))
    return logs


def _open_source(suite: Suite, logs: Sequence[EventLog], reuses: bool) -> Iterator[Trial]:
    if not (reuses and os.environ.get("SCOREGATE_REUSE")):
        return iterate_trials(suite, logs)
    from scoregate.engine.reuse import Replay

    return iterate_trials(suite, logs, is_done=Replay(suite))


def _start_log(suite: Suite, variant: int, folder: Path | None, *, strays: UsageMeter) -> EventLog:
    params = suite.variants[variant]
    log = EventLog(suite.id, folder, strays)
    log.emit(
        "suite_started",
        origin=suite.origin,
        evaluators=tuple(scorer.info for scorer in suite.evaluators),
        cases=suite.trials,
        params=None if params is None else to_plain(sort_sets(params)),
        sdk=f"scoregate {__version__}",
        message=suite.message,
    )
    for problem in suite.problems:
        log.emit("errored", stage="suite", error=problem)
    return log


def _deadline_error(suite: Suite) -> ErrorInfo:
    return ErrorInfo(
        "TimeoutError",
        f"the evaluators took longer than {suite.limits.scoring_s:g} s; what they had not done by then was given up",
        advice="Allow more seconds, or more of them at a time.",
    )


async def _run_stages(suite: Suite, source: Iterator[Trial], patience: PausableDeadline) -> None:
    total = suite.trials * len(suite.variants)
    case_workers = min(suite.limits.max_case_concurrency, total)
    limiter = CapacityLimiter(max(1, case_workers + sum(min(s.max_concurrency, total) for s in suite.evaluators)))
    last = Pool(suite.conclusion, limiter, abandon=patience.bounded) if suite.conclusion else None
    pools = [Pool(scorer, limiter, then=last, abandon=patience.bounded) for scorer in suite.scorers]
    stage = TaskStage(suite, pools, limiter, patience=patience)
    async with _run_pools([last] if last else [], total), _run_pools(pools, total), anyio.create_task_group() as tasks:
        for _ in range(case_workers):
            tasks.start_soon(stage.work, source)
        await _import_early()


@asynccontextmanager
async def _run_pools(pools: Sequence[Pool], total: int) -> AsyncIterator[None]:
    """The workers of these pools, until they are through with what the block gives them."""
    async with anyio.create_task_group() as scoring:
        for pool in pools:
            for _ in range(min(pool.scorer.max_concurrency, total)):
                scoring.start_soon(pool.work, scoring)
        yield
        for pool in pools:
            pool.channel.close()


async def _import_early() -> None:
    """While the first cases wait for what they called, bring in what is needed at the end."""
    await anyio.lowlevel.checkpoint()
    import scoregate.engine.results  # noqa: F401


def finish_suite(log: EventLog, started: float, *, assertion_failed: bool = False) -> None:
    """Say that a suite has ended, and what was used for it that belongs to no case.

    `started` is a reading of `time.perf_counter`.
    """
    report_budget_stop(log, log.strays)
    duration_s, usage = round(perf_counter() - started, 4), log.strays.take()
    log.emit("suite_finished", duration_s=duration_s, assertion_failed=assertion_failed, **usage_fields(usage))


def report_failed_suite(suite: str, error: ErrorInfo) -> None:
    """Record that a suite could not be run, so that nobody takes it for a success."""
    log = EventLog(suite, events_folder())
    log.emit("suite_started", origin=caller_origin(), cases=0, message=run_message())
    log.emit("errored", stage="suite", error=error)
    finish_suite(log, perf_counter())
