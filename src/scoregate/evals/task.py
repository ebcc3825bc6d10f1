"""The task of a suite: the user's function, called with the fields that its parameters name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

from scoregate.engine.calls import is_async
from scoregate.engine.trial import serialize_output, set_partial_output
from scoregate.errors import AgentError
from scoregate.evals.arguments import count_required, read_arguments
from scoregate.evals.rows import EXPECTED, INPUT, Row
from scoregate.kernel.types.records import record
from scoregate.kernel.types.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from scoregate.kernel.types.task_trace import TaskTrace

_CASE = "case"
_LONGEST_NAME = 100


def list_tasks(given: Any, problems: list[str]) -> dict[str, Any] | None:
    """Several tasks by their names; None if a single one is given.

    Args:
        given: what the user gives: a dict of tasks, a list of functions, or one function.
        problems: receives a text for each task that can't run.
    """
    if callable(given) or not isinstance(given, Mapping | list | tuple):
        return None
    if not given:
        problems.append("task must name at least one function, not be empty")
    tasks: dict[str, Any] = {}
    for name, task in _name_tasks(given):
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
            problems.append(f"the name of a task must be a text of 1 to {_LONGEST_NAME} characters, not {name!r:.100}")
        elif name == "<lambda>":
            problems.append("a lambda in a list of tasks has no name: give a dict, task={'a': lambda …}")
        elif name in tasks:
            problems.append(f"two tasks have the name {name!r}: give a dict, task={{'a': …, 'b': …}}")
        elif not callable(task):
            problems.append(f"task {name!r} must be callable, not {task!r:.100}")
        else:
            tasks[name] = task
    return tasks


def _name_tasks(given: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(given, Mapping):
        yield from given.items()
        return
    for task in given:
        function = task
        while isinstance(function, functools.partial):
            function = function.func
        yield getattr(function, "__name__", type(function).__name__), task


@record
class Outcome:
    """What a task did for one case.

    Attributes:
        value: what it returned; the output of a trajectory.
        duration_s: how long the call took, in seconds.
        trace: its calls and spans, if a scorer asks for the trace or the trajectory.
        trajectory: its steps, if it returned a trajectory or a scorer asks for one.
    """

    value: Any
    duration_s: float
    trace: TaskTrace | None = None
    trajectory: Trajectory | None = None


def _make_outcome(value: Any, duration_s: float) -> Outcome:
    if isinstance(value, Trajectory):
        return Outcome(value.final_output, duration_s, trajectory=value)
    return Outcome(value, duration_s)


def make_task(task: Callable[..., Any], fields: Collection[str], *, takes_input: bool = False) -> Callable[[Row], Any]:
    """The function that calls the task with a row and returns the outcome; async if the task is.

    Args:
        task: the user's function.
        fields: the names of the fields of all cases.
        takes_input: whether an only parameter receives the input whatever its name is, as the types of `Case` promise.

    Raises:
        TypeError: a parameter of the task matches no field.
    """
    is_single = takes_input and count_required(task) == 1
    arguments = read_arguments(task, {INPUT} if is_single else {*fields, INPUT, _CASE}, INPUT, extra=None)

    def call(row: Row) -> Any:
        values = {INPUT: row.input, _CASE: row.fields.get(_CASE, row.case)}
        if EXPECTED not in row.fields and row.expected is not None:
            values[EXPECTED] = row.expected
        positional, keywords = arguments.bind(values, row.fields)
        return task(*positional, **keywords)

    async def finish(value: Awaitable[Any], started: float) -> Outcome:
        try:
            return _make_outcome(await value, perf_counter() - started)
        except AgentError as error:
            if error.trajectory is not None:
                set_partial_output(Outcome(None, perf_counter() - started, trajectory=error.trajectory))
            raise

    def run(row: Row) -> Any:
        started = perf_counter()
        value = call(row)
        return finish(value, started) if inspect.isawaitable(value) else _make_outcome(value, perf_counter() - started)

    async def run_in_loop(row: Row) -> Outcome:
        return await finish(call(row), perf_counter())

    return run_in_loop if is_async(task) else run


def serialize_outcome(outcome: Outcome) -> Any:
    """The output for the record."""
    return serialize_output(outcome.value)


def serialize_trajectory(outcome: Outcome) -> Any:
    """The trajectory for the record; None without one."""
    return None if outcome.trajectory is None else outcome.trajectory.plain()
