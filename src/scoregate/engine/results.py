"""The result of a suite, read from its event log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from scoregate.engine.eval_result import EvalResult, copy_result
from scoregate.engine.event_log import EventLog
from scoregate.kernel.types.runs.run import SuiteResult


def make_result(logs: Sequence[EventLog]) -> EvalResult:
    """The result of a suite from the logs of its variants; with more than one it has them as `variants`.

    A single log is read when a field of the result is first read.
    """
    if len(logs) == 1:
        return _LazyEvalResult(logs[0])
    # Not needed for a single log under a host, which reads it itself.
    from scoregate.engine.own_events import reduce_log
    from scoregate.kernel.types.runs.suite_labels import label_suites

    runs = [reduce_log(log) for log in logs]
    labels = label_suites(runs)
    variants = tuple(copy_result(replace(each, label=label)) for each, label in zip(runs, labels, strict=True))
    return EvalResult(runs[0].id, runs[0].id, runs[0].origin, complete=True, variants=variants)


class _LazyEvalResult(EvalResult):
    """A result that reads its log when a field is first read."""

    __slots__ = ("_log",)

    def __init__(self, log: EventLog) -> None:
        object.__setattr__(self, "_log", log)
        object.__setattr__(self, "variants", ())

    def __getattr__(self, name: str) -> Any:
        from scoregate.engine.own_events import reduce_log

        result = reduce_log(self._log)
        for field in fields(SuiteResult):
            object.__setattr__(self, field.name, getattr(result, field.name))
        return object.__getattribute__(self, name)
