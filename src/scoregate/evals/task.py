"""The task of a suite: the user's function, called with the fields that its parameters name."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from scoregate.engine.calls import is_async
from scoregate.engine.trial import serialize_output
from scoregate.evals.arguments import read_arguments
from scoregate.evals.rows import EXPECTED, INPUT, Row

if TYPE_CHECKING:
    from scoregate.core.task_trace import TaskTrace

_CASE = "case"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the task returned for a case, how long the call took, in seconds, and its trace if a scorer asks for it."""

    value: Any
    duration_s: float
    trace: TaskTrace | None = None


def make_task(task: Callable[..., Any], fields: Collection[str]) -> Callable[[Row], Any]:
    """The function that calls the task with a row and returns the outcome; async if the task is.

    Args:
        task: the user's function.
        fields: the names of the fields of all cases.

    Raises:
        TypeError: a parameter of the task matches no field.
    """
    arguments = read_arguments(task, {*fields, INPUT, _CASE}, INPUT, extra=None)

    def call(row: Row) -> Any:
        values = {INPUT: row.input, _CASE: row.fields.get(_CASE, row.case)}
        if EXPECTED not in row.fields and row.expected is not None:
            values[EXPECTED] = row.expected
        positional, keywords = arguments.bind(values, row.fields)
        return task(*positional, **keywords)

    async def finish(value: Awaitable[Any], started: float) -> Outcome:
        return Outcome(await value, perf_counter() - started)

    def run(row: Row) -> Any:
        started = perf_counter()
        value = call(row)
        return finish(value, started) if inspect.isawaitable(value) else Outcome(value, perf_counter() - started)

    async def run_in_loop(row: Row) -> Outcome:
        return await finish(call(row), perf_counter())

    return run_in_loop if is_async(task) else run


def serialize_outcome(outcome: Outcome) -> Any:
    """The output for the record."""
    return serialize_output(outcome.value)
