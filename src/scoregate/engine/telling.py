"""What is known of a trial, as events: that it begins, and what an evaluator gave for it."""

from __future__ import annotations

from typing import Any

from scoregate.core.evaluation import Evaluation, Naming, Usage
from scoregate.core.metering import Meter, charged
from scoregate.core.pending import Pending
from scoregate.core.suite import Description
from scoregate.engine.errors import error_info
from scoregate.engine.trial import Trial

_PARTS = ("threshold", "metadata", "assertions", "usage")


def tell(trial: Trial, evaluator: str, result: Any, meter: Meter) -> None:
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
        trial.log.emit("errored", **said, **spent(meter.usage), **trial.key)
    elif isinstance(result, Evaluation):
        parts = {name: part for name in _PARTS if (part := getattr(result, name)) is not None}
        if result.usage is not None and not meter.used:
            trial.log.strays.give_up(result.usage)
        if meter.used:
            parts |= spent(charged(result.usage, meter))
        trial.log.emit("scored", evaluator=evaluator, score=result.score, **parts, **trial.key)
    elif isinstance(result, Naming):
        said = {"label": result.label, "metadata": result.metadata, **spent(charged(result.usage, meter))}
        trial.log.emit("labelled", evaluator=evaluator, **said, **trial.key)
    else:
        raise TypeError(
            f"the evaluator must return an Evaluation or None, not {type(result).__name__}: {result!r:.200}"
        )


def announce(trial: Trial, told: Description, *, reused: str | None = None) -> None:
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


def spent(usage: Usage | None) -> dict[str, Any]:
    """What an event says of usage: nothing where there is none."""
    return {} if usage is None else {"usage": usage}
