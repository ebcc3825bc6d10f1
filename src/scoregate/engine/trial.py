"""Trials: their state, the current trial of a task or thread, and their events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from traceback import format_exception_only
from typing import Any

from scoregate.engine.errors import make_error_info
from scoregate.engine.event_log import EventLog
from scoregate.kernel.types.evaluation import Evaluation, Label, Scores, Usage
from scoregate.kernel.types.event_values import ErrorInfo, ListedTool, Pending
from scoregate.kernel.types.suite import Case, Description, Suite
from scoregate.kernel.types.usage import METER, UsageMeter, charged_usage


class Trial:
    """One repeat of a case of a variant.

    Args:
        case: the case.
        repeat: the number of the repeat, from 0.
        log: the event log of the variant.
        params: the parameters of the variant; None without a grid search.

    Attributes:
        meter: counts the model usage of the function under test.
        pending_scorers: the number of scorers that have not finished.
        unscored: ids of the evaluators that returned no score.
        key: the fields that every event of this trial contains.
    """

    __slots__ = (
        "case", "hook_results", "key", "log", "meter", "output", "params", "pending_scorers", "repeat", "unscored",
    )  # fmt: skip

    def __init__(self, case: Case, repeat: int, log: EventLog, params: Mapping[str, Any] | None) -> None:
        self.case = case
        self.repeat = repeat
        self.log = log
        self.params = params
        self.meter = UsageMeter(repeat, case.hash, suite=log.name)
        self.output: Any = None
        self.hook_results: Any = None
        self.pending_scorers = 0
        self.unscored: tuple[str, ...] = ()
        self.key: dict[str, Any] = {"case": case.hash, "repeat": repeat}

    def make_meter(self, evaluator: str) -> UsageMeter:
        """A meter for the model usage of an evaluator."""
        return UsageMeter(self.repeat, self.case.hash, evaluator, suite=self.log.name)


_STOPPED = ErrorInfo(
    "BudgetSpent",
    "the budget was spent before the end of the run; later model calls were not made",
    advice="Raise max_cost or max_tokens, or run fewer cases.",
)
CURRENT: ContextVar[Trial | None] = ContextVar("scoregate_trial", default=None)


def enter_trial(trial: Trial, meter: UsageMeter) -> None:
    """Make the trial the current one of this task or thread, and count model calls with the meter."""
    CURRENT.set(trial)
    METER.set(meter)


def set_partial_output(output: Any) -> None:
    """Store the output before the function under test returns, so that its trace is kept if the function raises."""
    if (trial := CURRENT.get()) is not None:
        trial.output = output


def record_tools(tools: Iterable[ListedTool]) -> None:
    """Record the tools of an MCP server, so that a change of them is reported."""
    if (trial := CURRENT.get()) is not None:
        trial.log.tools.update(dict.fromkeys(tools))


def report_budget_stop(log: EventLog, meter: UsageMeter) -> None:
    """Emit an error, once per log, if the budget stopped model calls and the results are incomplete."""
    if meter.stopped and not log.is_stop_reported:
        log.is_stop_reported = True
        log.emit("errored", stage="suite", error=_STOPPED)


def iterate_trials(
    suite: Suite, logs: Sequence[EventLog], *, is_done: Callable[[Trial], bool] = lambda _: False
) -> Iterator[Trial]:
    """Yield the trials of all variants, without those for which `is_done` is true.

    All cases run once before any case runs again. So trials with one number of the repeat run at about the same time,
    and a disturbance that hits several cases of a cluster hits the same repeat of each: a comparison relies on it, see
    `case_means.number_slots`.
    """
    for params, log in zip(suite.variants, logs, strict=True):
        for repeat in range(max((case.repeats for case in suite.cases), default=0)):
            for case in suite.cases:
                if repeat < case.repeats and not is_done(trial := Trial(case, repeat, log, params)):
                    yield trial


def emit_result(trial: Trial, evaluator: str, result: Any, meter: UsageMeter) -> None:
    """Emit the result of an evaluator.

    Args:
        trial: the trial that was scored.
        evaluator: the id of the evaluator.
        result: an Evaluation, a Label, several of them (Scores), a request for a review (Pending), None, or the
            exception that was raised.
        meter: counts the model usage of the evaluator.

    Raises:
        TypeError: the result has another type.
        NotRecordable: the result has no JSON form.
    """
    if isinstance(result, Evaluation):
        _emit_score(trial, evaluator, result, meter)
    elif result is None:
        trial.unscored = (*trial.unscored, evaluator)
        _count_for_suite(trial, meter)
    elif isinstance(result, Pending):
        trial.log.emit("review_requested", name=evaluator, evaluator=evaluator, **result._asdict(), **trial.key)
    elif isinstance(result, BaseException):
        fields = {"evaluator": evaluator, "error": make_error_info(result), **make_usage_fields(meter.usage)}
        trial.log.emit("errored", stage="evaluator", **fields, **trial.key)
    elif isinstance(result, Label):
        usage = make_usage_fields(charged_usage(result.usage, meter))
        fields = {"label": result.label, "metadata": result.metadata, **usage}
        trial.log.emit("labelled", evaluator=evaluator, **fields, **trial.key)
    elif isinstance(result, Scores):
        _emit_parts(trial, evaluator, result, meter)
    else:
        raise TypeError(
            f"the evaluator must return an Evaluation or None, not {type(result).__name__}: {result!r:.200}"
        )


def _emit_score(trial: Trial, evaluator: str, result: Evaluation, meter: UsageMeter) -> None:
    fields: dict[str, Any] = {"evaluator": evaluator, "score": result.score}
    if result.threshold is not None:
        fields["threshold"] = result.threshold
    if result.metadata is not None:
        fields["metadata"] = result.metadata
    if result.assertions is not None:
        fields["assertions"] = result.assertions
    if meter.used:
        fields |= make_usage_fields(charged_usage(result.usage, meter))
    elif result.usage is not None:
        trial.log.unattributed.remove(result.usage)
        fields["usage"] = result.usage
    trial.log.emit("scored", **fields, **trial.key)


def _emit_parts(trial: Trial, evaluator: str, parts: Scores, meter: UsageMeter) -> None:
    """Emit the parts of a result. The usage of the call counts for the first one that is recorded.

    The others name its answer, so that scores of one stored answer are known as such.
    """
    usage, unused = meter.usage, UsageMeter(trial.repeat)
    answer = None if usage is None else Usage(model=usage.model, answer=usage.answer, cached=usage.cached, calls=0)
    is_counted = False
    for name, part in parts.items():
        if part is None:
            emit_result(trial, f"{evaluator}.{name}", None, unused)
        elif not is_counted:
            emit_result(trial, f"{evaluator}.{name}", part, meter)
            is_counted = True
        else:
            emit_result(trial, f"{evaluator}.{name}", replace(part, usage=part.usage or answer), unused)
    if not is_counted:
        _count_for_suite(trial, meter)


def _count_for_suite(trial: Trial, meter: UsageMeter) -> None:
    """Count the usage of an evaluator that recorded nothing."""
    for usage in meter.usages:
        trial.log.unattributed.add(usage)


def emit_case_started(
    log: EventLog, key: Mapping[str, Any], description: Description, *, reused: str | None = None
) -> None:
    """Emit the start of a trial.

    Args:
        log: the event log of the suite.
        key: the fields that every event of the trial contains.
        description: the case as it is recorded.
        reused: the id of the earlier run whose result follows.
    """
    name, body, digest, tags, cluster, origin, dataset_item_id, review_inputs = description
    fields: dict[str, Any] = {"name": name, "input": body, "digest": digest, "tags": tags, "cluster": cluster}
    if origin is not None:
        fields["origin"] = origin
    if reused is not None:
        fields["reused"] = reused
    if dataset_item_id is not None:
        fields["dataset_item_id"] = dataset_item_id
    if review_inputs:
        fields["review_inputs"] = review_inputs
    log.emit("case_started", **fields, **key)


def make_usage_fields(usage: Usage | None) -> dict[str, Any]:
    """The field `usage` of an event; no field without usage."""
    return {} if usage is None else {"usage": usage}


_PLAIN_OUTPUTS = frozenset({str, dict, list, int, float, bool, type(None)})


def serialize_output(output: Any) -> Any:
    """Convert an output for the record, with its own method `serialize` if it has one. An exception becomes its text.

    Raises:
        TypeError: the output is an iterator: once it is recorded, the evaluators could not read it again.
    """
    if type(output) in _PLAIN_OUTPUTS:
        return output
    if isinstance(output, Iterator | AsyncIterator):
        kind = type(output).__name__.replace("_", " ")
        raise TypeError(
            f"an output of type {kind} can be read only once; collect its items, and return a list or a text"
        )
    if isinstance(output, BaseException):
        return "".join(format_exception_only(output)).rstrip("\n")
    serialize = getattr(output, "serialize", None)
    return serialize() if callable(serialize) else output
