"""One trial on its way through the stages, and which one is running here and now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from scoregate.core.evaluation import Evaluation, Label, Usage
from scoregate.core.events import ErrorInfo, Pending
from scoregate.core.suite import Case, Description, Suite
from scoregate.core.usage import METER, UsageMeter, charged_usage
from scoregate.engine.errors import error_info
from scoregate.engine.event_log import EventLog


class Trial:
    """A case, a repeat of it, and the log of the variant that it belongs to; `meter` counts what its output takes."""

    __slots__ = ("case", "hook_results", "log", "meter", "output", "params", "repeat", "unscored", "waiting")

    def __init__(self, case: Case, repeat: int, log: EventLog, params: Mapping[str, Any] | None) -> None:
        self.case = case
        self.repeat = repeat
        self.log = log
        self.params = params
        self.meter = UsageMeter(repeat)
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


def enter_trial(trial: Trial, meter: UsageMeter) -> None:
    """From here on, in this task or thread, the trial is the one that runs; its model calls are counted there."""
    CURRENT.set(trial)
    METER.set(meter)


def set_partial_output(output: Any) -> None:
    """Say in the function under test what its output will be, so that its trace is kept should it raise."""
    if (trial := CURRENT.get()) is not None:
        trial.output = output


def report_budget_stop(log: EventLog, meter: UsageMeter) -> None:
    """Say once for a suite that its results are not whole, because the run may spend no more."""
    if meter.stopped and not log.stopped:
        log.stopped = True
        log.emit("errored", stage="suite", error=_STOPPED)


def iterate_trials(
    suite: Suite, logs: Sequence[EventLog], *, is_done: Callable[[Trial], bool] = lambda _: False
) -> Iterator[Trial]:
    """Every trial of every variant that is to be run, lazily; `is_done` tells which are not."""
    for params, log in zip(suite.variants, logs, strict=True):
        for case in suite.cases:
            for repeat in range(case.repeats):
                trial = Trial(case, repeat, log, params)
                if not is_done(trial):
                    yield trial


_RESULT_FIELDS = ("threshold", "metadata", "assertions", "usage")


def emit_result(trial: Trial, evaluator: str, result: Any, meter: UsageMeter) -> None:
    """Say it: a score, a label, a question for people, nothing, or what was raised.

    Raises:
        TypeError: it is none of these. NotRecordable: it has no JSON form.
    """
    if result is None:
        trial.unscored = (*trial.unscored, evaluator)
    elif isinstance(result, Pending):
        said = {"name": evaluator, "evaluator": evaluator, **result._asdict()}
        trial.log.emit("review_requested", **said, **trial.key)
    elif isinstance(result, BaseException):
        said = {"stage": "evaluator", "evaluator": evaluator, "error": error_info(result)}
        trial.log.emit("errored", **said, **usage_fields(meter.usage), **trial.key)
    elif isinstance(result, Evaluation):
        parts = {name: part for name in _RESULT_FIELDS if (part := getattr(result, name)) is not None}
        if result.usage is not None and not meter.used:
            trial.log.strays.give_up(result.usage)
        if meter.used:
            parts |= usage_fields(charged_usage(result.usage, meter))
        trial.log.emit("scored", evaluator=evaluator, score=result.score, **parts, **trial.key)
    elif isinstance(result, Label):
        said = {"label": result.label, "metadata": result.metadata, **usage_fields(charged_usage(result.usage, meter))}
        trial.log.emit("labelled", evaluator=evaluator, **said, **trial.key)
    else:
        raise TypeError(
            f"the evaluator must return an Evaluation or None, not {type(result).__name__}: {result!r:.200}"
        )


def announce_trial(trial: Trial, told: Description, *, reused: str | None = None) -> None:
    """Say that a trial begins, or, with the run that has measured it, that its result follows."""
    trial.log.emit(
        "case_started",
        name=told.name,
        input=told.body,
        digest=told.digest,
        tags=told.tags,
        cluster=told.cluster,
        **({} if told.origin is None else {"origin": told.origin}),
        **({} if reused is None else {"reused": reused}),
        **trial.key,
    )


def usage_fields(usage: Usage | None) -> dict[str, Any]:
    """What an event says of usage: nothing where there is none."""
    return {} if usage is None else {"usage": usage}


def serialize_output(output: Any) -> Any:
    """The output as the record keeps it: its own `serialize`, where it has one.

    Raises:
        TypeError: it can be read only once, so that the evaluators would find nothing.
    """
    if isinstance(output, Iterator):
        raise TypeError(f"a {type(output).__name__} can be read only once; return its items, in a list")
    serialize = getattr(output, "serialize", None)
    return serialize() if callable(serialize) else output
