"""Run a suite: workers take trials from an iterator and process them in two stages of limited size."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio
from anyio import CapacityLimiter

from scoregate.engine.calls import Caller, PausableDeadline, is_transient, retry_delay_s
from scoregate.engine.environment import events_folder, name_calls_at_gateway, read_parts, run_message
from scoregate.engine.errors import EXIT_EXCEPTIONS, make_error_info
from scoregate.engine.event_log import EventLog
from scoregate.engine.imports import caller_origin
from scoregate.engine.scoring import ScorerPool
from scoregate.engine.trial import (
    Trial,
    emit_case_started,
    enter_trial,
    iterate_trials,
    make_usage_fields,
    report_budget_stop,
)
from scoregate.errors import NotRecordable, ScoregateError
from scoregate.kernel.types.cleanup import close_at_end
from scoregate.kernel.types.event_values import MOST_TOOLS, ErrorInfo, SuitePart
from scoregate.kernel.types.json_io import to_stable_plain
from scoregate.kernel.types.suite import TASK, Suite
from scoregate.kernel.types.usage import UsageMeter, collect_usage
from scoregate.version import __version__


class TaskStage:
    """The first stage: runs the function under test, and passes trials with an output to the scorer pools."""

    def __init__(
        self, suite: Suite, pools: Sequence[ScorerPool], limiter: CapacityLimiter, *, deadline: PausableDeadline
    ) -> None:
        self._suite = suite
        self._pools = pools
        self._calls = {
            name: deadline.pause_during(Caller(task, limiter, timeout_s=suite.limits.timeout_s).measure)
            for name, task in (suite.tasks or {"": suite.task}).items()
        }
        self._hook = Caller(suite.hook, limiter, timeout_s=suite.limits.timeout_s) if suite.hook else None

    async def work(self, trials: Iterator[Trial]) -> None:
        """Take and run trials until there are no more."""
        for trial in trials:
            enter_trial(trial, trial.meter)
            has_output = await self._produce_output(trial)
            if trial.meter.used:
                report_budget_stop(trial.log, trial.meter)
            if has_output and self._pools:
                trial.pending_scorers = len(self._pools)
                for pool in self._pools:
                    await pool.channel.put(trial)
            else:
                trial.log.emit("case_finished", **trial.key)

    async def _produce_output(self, trial: Trial) -> bool:
        try:
            emit_case_started(trial.log, trial.key, self._suite.describe(trial.case))
            await self._run(trial)
        except EXIT_EXCEPTIONS:
            raise
        except BaseException as error:  # the user's code may raise anything
            if isinstance(error, ScoregateError) and error.partial_output is not None:
                with suppress(NotRecordable):
                    trial.log.emit("case_output", output=error.partial_output, **trial.key)
            fields = {**self._trace_fields(trial), **make_usage_fields(trial.meter.usage), **trial.key}
            trial.log.emit("errored", stage="task", error=make_error_info(error), **fields)
            return False
        return True

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

    def _trace_fields(self, trial: Trial) -> dict[str, Any]:
        form = self._suite.trace_form
        trace = None if form is None or trial.output is None else form(trial.output)
        return {} if trace is None else {"trace": trace}

    async def _attempt(self, trial: Trial, attempt: int) -> None:
        waited_s = trial.meter.waited_s
        name = trial.params[TASK] if self._suite.tasks and trial.params else ""
        trial.output, duration_s = await self._calls[name](trial.case.value)
        duration_ms: float | None = (duration_s - (trial.meter.waited_s - waited_s)) * 1000
        if self._suite.duration_form is not None:
            duration_ms = self._suite.duration_form(trial.output)
        if self._hook is not None:
            trial.hook_results = await self._hook(trial.case.value, trial.output)
        fields: dict[str, Any] = {
            "output": self._suite.output_form(trial.output),
            "duration_ms": None if duration_ms is None else round(duration_ms, 3),
            "attempts": attempt,
        }
        if (form := self._suite.review_form) is not None and (reviewed := form(trial.output)):
            fields["review_outputs"] = reviewed
        if self._suite.trace_form is not None:
            fields |= self._trace_fields(trial)
        if trial.meter.used:
            fields |= make_usage_fields(trial.meter.usage)
        trial.log.emit("case_output", **fields, **trial.key)


async def run_suite(
    suite: Suite, folder: Path | None, *, reuses: bool = False, advance: Callable[[], None] | None = None
) -> list[EventLog]:
    """Run every variant of a suite.

    Args:
        suite: the suite to run.
        folder: the folder for the event logs; None for temporary files.
        reuses: whether results of an earlier run that the host offers go into the logs. A caller that needs more than
            the logs sets False.
        advance: called after every finished trial.

    Returns:
        A log for each variant, not yet finished: call `finish_suite` for each.
    """
    name_calls_at_gateway()
    unattributed, deadline = UsageMeter(suite=suite.id), PausableDeadline(suite.limits.scoring_s)
    suite, part = _take_part(suite)
    logs = [
        _start_log(suite, params, EventLog(suite.id, folder, unattributed, advance), part) for params in suite.variants
    ]
    trials = iterate_trials(suite, logs)
    if reuses and (path := os.environ.get("SCOREGATE_REUSE")):
        from scoregate.engine.reuse import Replay

        trials = iterate_trials(suite, logs, is_done=Replay(suite, path))
    total = suite.trials * len(suite.variants)
    case_workers = min(suite.limits.max_case_concurrency, total)
    limiter = CapacityLimiter(max(1, case_workers + sum(min(s.max_concurrency, total) for s in suite.evaluators)))
    abandon = deadline.has_limit
    last = ScorerPool(suite.conclusion, limiter, abandon=abandon) if suite.conclusion else None
    pools = [ScorerPool(scorer, limiter, next_pool=last, abandon=abandon) for scorer in suite.scorers]
    stage = TaskStage(suite, pools, limiter, deadline=deadline)
    with collect_usage(unattributed):
        async with (
            close_at_end(),
            deadline.enforce(),
            _run_pools([last] if last else [], total),
            _run_pools(pools, total),
            anyio.create_task_group() as tasks,
        ):
            for _ in range(case_workers):
                tasks.start_soon(stage.work, trials)
            await anyio.lowlevel.checkpoint()
            _import_results(folder)
    if deadline.is_over:
        message = f"the scorers took longer than {suite.limits.scoring_s:g} s; unfinished evaluations were cancelled"
        error = ErrorInfo("TimeoutError", message, advice="Allow more seconds, or raise the scorers' concurrency.")
        for log in logs:
            log.timed_out = True
            log.emit("errored", stage="suite", error=error)
    return logs


def _import_results(folder: Path | None) -> None:
    """Import what the end of the run needs, while the first cases wait. A host reads the log itself."""
    import scoregate.engine.results

    if folder is None:
        import scoregate.engine.own_events  # noqa: F401


def _take_part(suite: Suite) -> tuple[Suite, SuitePart | None]:
    """The suite with the cases that this process runs for a shard. Its evaluators are those of all cases."""
    parts = read_parts()
    cases, part = (suite.cases, None) if parts is None else parts.take_cases(suite.id, suite.cases)
    return (suite, None) if part is None else (replace(suite, cases=cases), part)


def _start_log(
    suite: Suite, params: Mapping[str, Any] | None, log: EventLog, part: SuitePart | None = None
) -> EventLog:
    log.emit(
        "suite_started",
        origin=suite.origin,
        evaluators=tuple(scorer.info for scorer in suite.evaluators),
        cases=suite.trials,
        params=None if params is None else to_stable_plain(params),
        sdk=f"scoregate {__version__}",
        message=suite.message,
        **({} if part is None else {"part": part}),
        **({} if suite.total is None else {"total": suite.total, "concurrency": suite.limits.max_case_concurrency}),
    )
    for problem in suite.problems:
        log.emit("errored", stage="suite", error=problem)
    return log


@asynccontextmanager
async def _run_pools(pools: Sequence[ScorerPool], total: int) -> AsyncIterator[None]:
    """Run the workers of these pools, until they have scored every trial that the block passes to them."""
    async with anyio.create_task_group() as scoring:
        for pool in pools:
            for _ in range(min(pool.scorer.max_concurrency, total)):
                scoring.start_soon(pool.work, scoring)
        yield
        for pool in pools:
            pool.channel.close()


def finish_suite(log: EventLog, started: float, *, assertion_failed: bool = False) -> None:
    """Emit the end of a suite, with the model usage that belongs to no case.

    Args:
        log: the log of the suite.
        started: the value of `time.perf_counter` when the suite started.
        assertion_failed: whether an assertion of the user's test failed.
    """
    report_budget_stop(log, log.unattributed)
    duration_s, usage = round(perf_counter() - started, 4), log.unattributed.take()
    fields = make_usage_fields(usage) | ({"tools": tuple(log.tools)[:MOST_TOOLS]} if log.tools else {})
    log.emit("suite_finished", duration_s=duration_s, assertion_failed=assertion_failed, **fields)


def report_failed_suite(suite: str, error: ErrorInfo) -> None:
    """Record that a suite could not run, so that it does not count as passed."""
    log = EventLog(suite, events_folder())
    log.emit("suite_started", origin=caller_origin(), cases=0, message=run_message())
    log.emit("errored", stage="suite", error=error)
    finish_suite(log, perf_counter())
