"""What came of a suite, read back from its log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from scoregate.core.case import CaseResult
from scoregate.core.fold import SuiteFold
from scoregate.core.record import SuiteResult
from scoregate.engine.log import EventLog
from scoregate.engine.readback import own_event


def result_of(log: EventLog) -> SuiteResult:
    """The suite as far as it has got when the result is first looked at."""
    return _Later(log)


def folded(log: EventLog) -> SuiteResult:
    """The suite as far as it has got."""
    fold = SuiteFold(0, log.suite)
    for line in log.lines():
        fold.apply(own_event(line))
    return fold.result(log.suite, lambda: _cases(log))


def _cases(log: EventLog) -> Iterator[CaseResult]:
    fold = SuiteFold(0, log.suite)
    for line in log.lines():
        if (case := fold.apply(own_event(line))) is not None:
            yield case
    yield from fold.close()


class _Later(SuiteResult):
    """A result that nobody has looked at: the log is not read before a field of it is."""

    __slots__ = ("_log",)

    def __init__(self, log: EventLog) -> None:
        object.__setattr__(self, "_log", log)

    def __getattr__(self, name: str) -> Any:
        found = folded(self._log)
        for each in fields(SuiteResult):
            object.__setattr__(self, each.name, getattr(found, each.name))
        return object.__getattribute__(self, name)
