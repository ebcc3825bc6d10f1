"""One trial on its way through the stages, and which one is running here and now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from scoregate.core.metering import METER, Meter
from scoregate.core.parts import ErrorInfo
from scoregate.core.suite import Case, Suite
from scoregate.engine.log import EventLog


class Trial:
    """A case, a repeat of it, and the log of the variant that it belongs to; `meter` counts what its output takes."""

    __slots__ = ("case", "hook_results", "log", "meter", "output", "params", "repeat", "unscored", "waiting")

    def __init__(self, case: Case, repeat: int, log: EventLog, params: Mapping[str, Any] | None) -> None:
        self.case = case
        self.repeat = repeat
        self.log = log
        self.params = params
        self.meter = Meter(repeat)
        self.output: Any = None
        self.hook_results: Any = None
        self.waiting = 0
        self.unscored: tuple[str, ...] = ()

    @property
    def key(self) -> dict[str, Any]:
        """What every event of this trial carries."""
        return {"case": self.case.hash, "repeat": self.repeat}


_STOPPED = ErrorInfo(
    "BudgetSpent",
    "the run's budget was spent before its end: from then on no model was asked",
    advice="Raise max_cost or max_tokens, or run fewer cases.",
)
CURRENT: ContextVar[Trial | None] = ContextVar("scoregate_trial", default=None)


def enter(trial: Trial, meter: Meter) -> None:
    """From here on, in this task or thread, the trial is the one that runs; its model calls are counted there."""
    CURRENT.set(trial)
    METER.set(meter)


def promise(output: Any) -> None:
    """Say in the function under test what its output will be, so that its trace is kept should it raise."""
    if (trial := CURRENT.get()) is not None:
        trial.output = output


def tell_stop(log: EventLog, meter: Meter) -> None:
    """Say once for a suite that its results are not whole, because the run may spend no more."""
    if meter.stopped and not log.stopped:
        log.stopped = True
        log.emit("errored", stage="suite", error=_STOPPED)


def trials(
    suite: Suite, logs: Sequence[EventLog], *, is_done: Callable[[Trial], bool] = lambda _: False
) -> Iterator[Trial]:
    """Every trial of every variant that is to be run, lazily; `is_done` tells which are not."""
    for params, log in zip(suite.variants, logs, strict=True):
        for case in suite.cases:
            for repeat in range(case.repeats):
                trial = Trial(case, repeat, log, params)
                if not is_done(trial):
                    yield trial
