"""What came of a suite, read back from its log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, get_args

from pydantic_core import from_json

from scoregate.core.cases import CaseResult
from scoregate.core.evaluation import Assertion, Threshold, Usage
from scoregate.core.events import Choice, ErrorInfo, EvaluatorInfo, Event, Fingerprint, Origin
from scoregate.core.reducer import SuiteReducer
from scoregate.core.run import SuiteResult
from scoregate.engine.event_log import EventLog

_KINDS: dict[str, type[Event]] = {kind.__dataclass_fields__["type"].default: kind for kind in get_args(Event)}


def parse_own_event(line: bytes) -> Event:
    """The event in a line of our own log."""
    said = from_json(line)
    for name in said.keys() & _PARTS.keys():
        if said[name] is not None:
            said[name] = _PARTS[name](said[name])
    return _KINDS[said.pop("type")](**said)


def parse_evaluator(said: Mapping[str, Any]) -> EvaluatorInfo:
    """An evaluator, as a log or a record has it."""
    mark = said["fingerprint"]
    choices = tuple(Choice(**each) for each in said["choices"])
    return EvaluatorInfo(**{**said, "fingerprint": None if mark is None else Fingerprint(**mark), "choices": choices})


_PARTS: dict[str, Callable[[Any], Any]] = {
    "assertions": lambda said: tuple(Assertion(**each) for each in said),
    "assignees": tuple,
    "error": lambda said: ErrorInfo(**said),
    "evaluators": lambda said: tuple(map(parse_evaluator, said)),
    "origin": lambda said: Origin(**said),
    "tags": tuple,
    "threshold": lambda said: Threshold(**said),
    "unscored": tuple,
    "usage": lambda said: Usage(**said),
}


def lazy_result(log: EventLog) -> SuiteResult:
    """The suite as far as it has got when the result is first looked at."""
    return _LazyResult(log)


def reduce_log(log: EventLog) -> SuiteResult:
    """The suite as far as it has got."""
    fold = SuiteReducer(0, log.suite)
    for line in log.lines():
        fold.apply(parse_own_event(line))
    return fold.result(log.suite, lambda: _read_cases(log))


def _read_cases(log: EventLog) -> Iterator[CaseResult]:
    fold = SuiteReducer(0, log.suite)
    for line in log.lines():
        if (case := fold.apply(parse_own_event(line))) is not None:
            yield case
    yield from fold.close()


class _LazyResult(SuiteResult):
    """A result that nobody has looked at: the log is not read before a field of it is."""

    __slots__ = ("_log",)

    def __init__(self, log: EventLog) -> None:
        object.__setattr__(self, "_log", log)

    def __getattr__(self, name: str) -> Any:
        found = reduce_log(self._log)
        for each in fields(SuiteResult):
            object.__setattr__(self, each.name, getattr(found, each.name))
        return object.__getattribute__(self, name)
