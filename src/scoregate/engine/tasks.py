"""The first stage: call the function under test, then the hook, and say what came out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any

import anyio
from anyio import CapacityLimiter

from scoregate.core.suite import Suite
from scoregate.engine.call import Caller
from scoregate.engine.errors import ENDINGS, error_info
from scoregate.engine.patience import Patience
from scoregate.engine.retry import is_transient, wait_s
from scoregate.engine.scoring import Pool
from scoregate.engine.telling import announce, spent
from scoregate.engine.trial import Trial, enter, tell_stop
from scoregate.errors import NotRecordable, ScoregateError


class TaskStage:
    """Workers that pull trials and hand those that gave an output to the pools of scorers."""

    def __init__(self, suite: Suite, pools: Sequence[Pool], limiter: CapacityLimiter, *, patience: Patience) -> None:
        self._suite = suite
        self._pools = pools
        self._task = patience.pausing(Caller(suite.task, limiter, timeout_s=suite.limits.timeout_s))
        self._hook = Caller(suite.hook, limiter, timeout_s=suite.limits.timeout_s) if suite.hook else None

    async def work(self, source: Iterator[Trial]) -> None:
        """Pull and run trials until there are no more."""
        for trial in source:
            enter(trial, trial.meter)
            is_produced = await self._produced(trial)
            if trial.meter.used:
                tell_stop(trial.log, trial.meter)
            if is_produced:
                trial.waiting = len(self._pools)
                for pool in self._pools:
                    await pool.channel.put(trial)
            else:
                trial.log.emit("case_finished", **trial.key)

    async def _produced(self, trial: Trial) -> bool:
        try:
            announce(trial, self._suite.describe(trial.case))
            await self._run(trial)
        except ENDINGS:
            raise
        except BaseException as error:  # the user's code may raise anything
            _keep_so_far(trial, error)
            told = {**self._traced(trial), **spent(trial.meter.usage), **trial.key}
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
            await anyio.sleep(wait_s(attempt))
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
            **spent(trial.meter.usage),
            **trial.key,
        )


def _keep_so_far(trial: Trial, error: BaseException) -> None:
    if isinstance(error, ScoregateError) and error.so_far is not None:
        with suppress(NotRecordable):
            trial.log.emit("case_output", output=error.so_far, **trial.key)
