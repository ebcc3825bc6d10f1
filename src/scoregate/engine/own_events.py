"""The events of a log that this process wrote, and what they add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

from pydantic_core import from_json

from scoregate.engine.event_log import EventLog
from scoregate.kernel.types.evaluation import Assertion, Threshold, Usage
from scoregate.kernel.types.event_values import (
    Choice,
    ErrorInfo,
    EvaluatorInfo,
    Fingerprint,
    HumanReviewField,
    Origin,
    SuitePart,
)
from scoregate.kernel.types.events import Event
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.reducer import SuiteReducer
from scoregate.kernel.types.runs.run import SuiteResult

_EVENT_TYPES: dict[str, type[Event]] = {kind.__dataclass_fields__["type"].default: kind for kind in get_args(Event)}


def parse_own_event(line: bytes) -> Event:
    """Parse a line of an event log that this process wrote."""
    event = from_json(line)
    for name in event.keys() & _FIELD_PARSERS.keys():
        if event[name] is not None:
            event[name] = _FIELD_PARSERS[name](event[name])
    return _EVENT_TYPES[event.pop("type")](**event)


def parse_evaluator(data: Mapping[str, Any]) -> EvaluatorInfo:
    """Parse the JSON object of an evaluator in an event log or in the record of a run."""
    fingerprint = None if data["fingerprint"] is None else Fingerprint(**data["fingerprint"])
    choices = tuple(Choice(**choice) for choice in data["choices"])
    return EvaluatorInfo(**{**data, "fingerprint": fingerprint, "choices": choices})


_FIELD_PARSERS: dict[str, Callable[[Any], Any]] = {
    "assertions": lambda items: tuple(Assertion(**item) for item in items),
    "assignees": tuple,
    "error": lambda data: ErrorInfo(**data),
    "evaluators": lambda items: tuple(map(parse_evaluator, items)),
    "origin": lambda data: Origin(**data),
    "part": lambda data: SuitePart(tuple(data["numbers"]), data["of"], data["cases"], data["digest"]),
    "review_inputs": lambda items: tuple(HumanReviewField(**item) for item in items),
    "review_outputs": lambda items: tuple(HumanReviewField(**item) for item in items),
    "tags": tuple,
    "threshold": lambda data: Threshold(**data),
    "unscored": tuple,
    "usage": lambda data: Usage(**data),
}


def reduce_log(log: EventLog) -> SuiteResult:
    """Read the log, and return the result so far."""
    reducer = SuiteReducer(0, log.suite)
    for line in log.lines():
        reducer.apply(parse_own_event(line))
    return reducer.result(log.suite, lambda: _read_cases(log))


def _read_cases(log: EventLog) -> Iterator[CaseResult]:
    reducer = SuiteReducer(0, log.suite)
    for line in log.lines():
        if (case := reducer.apply(parse_own_event(line))) is not None:
            yield case
    yield from reducer.close()
