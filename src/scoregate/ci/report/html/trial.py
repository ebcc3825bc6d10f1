"""One trial as the page holds it: what went in, what came out, what was said of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from scoregate.ci.report.excerpts import shown_score
from scoregate.ci.report.html.room import Room, Shown
from scoregate.ci.report.html.spans import steps
from scoregate.ci.report.html.talk import talk
from scoregate.core.case import CaseError, CaseResult
from scoregate.core.evaluation import Assertion, Evaluation, Usage

_MOST = 50


def trial(case: CaseResult, room: Room, *, show_outputs: bool) -> dict[str, Any]:
    """As plain data, without what is not known. Without `show_outputs` nothing that a model said is in it."""
    had = talk(case.output, room) if show_outputs else None
    told = {
        "repeat": case.repeat,
        "status": str(case.status),
        "output": room.text(case.output) if show_outputs and had is None else None,
        "talk": had,
        "cut": case.truncated or None,
        "errors": [_error(error, room) for error in case.errors[:_MOST]],
        "scores": {room.name(name): _evaluation(found, room, show_outputs) for name, found in case.evaluations.items()},
        "input": room.text(case.input),
        "unscored": [room.name(name) for name in case.unscored],
        "pending": [room.name(name) for name in case.pending],
        "ms": case.duration_ms,
        "attempts": case.attempts if case.attempts > 1 else None,
        "usage": _usage(case.usage, room),
        "trace": steps(case.trace, room) if show_outputs else None,
    }
    return _known(told)


def _evaluation(found: Evaluation, room: Room, show_outputs: bool) -> dict[str, Any]:
    told = {
        "score": found.score,
        "shown": shown_score(found.score, found.threshold),
        "passed": found.passed,
        "threshold": str(found.threshold) if found.threshold is not None else None,
        "said": list(_pairs(found.metadata, room)) if show_outputs else None,
        "criteria": [_criterion(each, room, show_outputs) for each in islice(found.assertions or (), _MOST)],
        "usage": _usage(found.usage, room),
    }
    return _known(told)


def _criterion(assertion: Assertion, room: Room, show_outputs: bool) -> dict[str, Any]:
    told = {
        "text": room.line(assertion.criterion, 1000) or "(no criterion)",
        "passed": assertion.passed,
        "optional": not assertion.required or None,
        "said": list(_pairs(assertion.metadata, room)) if show_outputs else None,
    }
    return _known(told)


def _pairs(metadata: Any, room: Room) -> Iterator[tuple[str, Shown | None]]:
    """Reasons first: what a judge was asked is long."""
    if isinstance(metadata, Mapping):
        known = [(str(key), value) for key, value in metadata.items() if value not in (None, "", [], {})]
        for key, value in islice(sorted(known, key=lambda pair: pair[0] == "prompt"), _MOST):
            yield room.line(key), room.text(value)
    elif metadata is not None:
        yield "metadata", room.text(metadata)


def _error(error: CaseError, room: Room) -> dict[str, Any]:
    told = {
        "evaluator": None if error.evaluator is None else room.line(error.evaluator),
        "type": room.line(error.error.type),
        "message": room.text(error.error.message),
        "traceback": room.text(error.error.traceback),
        "advice": room.line(error.error.advice, 1000),
    }
    return _known(told)


def _usage(usage: Usage | None, room: Room) -> dict[str, Any] | None:
    if usage is None:
        return None
    told = {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cached_tokens": usage.cached_tokens or None,
        "cost": usage.cost,
        "model": None if usage.model is None else room.line(usage.model),
        "cached": usage.cached or None,
    }
    return _known(told)


def _known(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if value is not None and value not in ("", [])}
