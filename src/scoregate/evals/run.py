"""Run a task on data and score its outputs.

Each problem of the arguments is reported, and the valid parts run. With a wrong option no case runs: calls of the task
may cost much, and nothing that they return would count.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from scoregate.engine.driver import run_to_end
from scoregate.engine.environment import Selection, select_suite
from scoregate.engine.imports import find_caller_file
from scoregate.engine.script_front import ScriptFront
from scoregate.evals.case import Case as GivenCase
from scoregate.evals.data import read_data
from scoregate.evals.rows import Cases, Row
from scoregate.evals.scorers import Scorers, build_scorers
from scoregate.evals.task import list_tasks, make_task, serialize_outcome, serialize_trajectory
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.records import record
from scoregate.kernel.types.suite import TASK, RunLimits, Suite, read_limits
from scoregate.kernel.types.text import is_whole_number

if TYPE_CHECKING:
    from scoregate.engine.eval_result import EvalResult
    from scoregate.evals.checked_types import (
        AnyData,
        AnyScorers,
        AnyTasks,
        ExpectedT,
        InputT,
        OutputT,
        TaskByName,
        TypedData,
        TypedScorers,
        TypedTasks,
    )

_NO_NAME = "(no name)"


@overload
def evaluate(
    name: str | None = None,
    *,
    data: TypedData[InputT, ExpectedT],
    task: TypedTasks[InputT, OutputT],
    scorers: TypedScorers[InputT, OutputT, ExpectedT] = ...,
    concurrency: int = ...,
    repeats: int | None = ...,
    timeout: float | None = ...,
    retries: int = ...,
    tags: Sequence[str] = ...,
    cluster: str | None = ...,
    assert_test: bool = ...,
) -> EvalResult: ...


@overload
def evaluate(
    name: str | None = None,
    *,
    data: TypedData[InputT, ExpectedT],
    task: TypedTasks[InputT, Awaitable[OutputT]],
    scorers: TypedScorers[InputT, OutputT, ExpectedT] = ...,
    concurrency: int = ...,
    repeats: int | None = ...,
    timeout: float | None = ...,
    retries: int = ...,
    tags: Sequence[str] = ...,
    cluster: str | None = ...,
    assert_test: bool = ...,
) -> EvalResult: ...


@overload
def evaluate(
    name: str | None = None,
    *,
    data: TypedData[InputT, ExpectedT],
    task: TaskByName[InputT],
    scorers: AnyScorers = ...,
    concurrency: int = ...,
    repeats: int | None = ...,
    timeout: float | None = ...,
    retries: int = ...,
    tags: Sequence[str] = ...,
    cluster: str | None = ...,
    assert_test: bool = ...,
) -> EvalResult: ...


@overload
def evaluate(
    name: str | None = None,
    *,
    data: AnyData,
    task: AnyTasks,
    scorers: AnyScorers = ...,
    concurrency: int = ...,
    repeats: int | None = ...,
    timeout: float | None = ...,
    retries: int = ...,
    tags: Sequence[str] = ...,
    cluster: str | None = ...,
    assert_test: bool = ...,
) -> EvalResult: ...


def evaluate(
    name: str | None = None,
    *,
    data: Any,
    task: Any,
    scorers: Any = (),
    concurrency: int = 10,
    repeats: int | None = None,
    timeout: float | None = None,
    retries: int = 0,
    tags: Sequence[str] = (),
    cluster: str | None = None,
    assert_test: bool = False,
) -> EvalResult:
    """Run a task on every case of the data, and every output through the scorers.

    A case is a dict, a dataclass, a pydantic model or a plain value. Its field `id` identifies it in all runs; without
    one, a digest of its input does. An exception ends only its own case or score. Problems of the suite itself, such as
    two cases with one id, are in the result's `errors`, and the rest of the suite runs. With a wrong option, such as
    `timeout="30s"`, no case does.

    Args:
        name: the suite's name, which must not change; default: the name of the task. Several tasks need one.
        data: the cases, of the class `Case` if type checkers shall check the task and the scorers; or a path that ends
            in .csv, .tsv, .json, .jsonl or .yaml, relative to the working directory or to the calling file; or the name
            of a dataset of the store.
        task: the function under test, sync (it runs in a worker thread) or async. It receives the fields of the case
            that its parameters name. If it has one parameter and there is no such field, it receives `input`. A dict of
            functions, or a list of named ones, makes a variant of each: all run on the same cases, and the result and
            the report rank them.
        scorers: callables that receive `input`, `expected`, `output`, `case`, `metadata`, `tags`, `duration_s`,
            `trace` (a `TaskTrace`), `trajectory` (a `Trajectory`) and fields of the case by the names of their
            parameters, or the output as their only argument. They return a bool, which passes if it is true, a number
            from 0 to 1, a dict of several, an `Evaluation`, an object with `score`, or None to skip the case.
            Evaluators of `scoregate.testing` and of pydantic_evals work, too.
        concurrency: how many cases run at once.
        repeats: how often each case runs; default: once, or as often as the run's setting says.
        timeout: seconds until a case is cancelled. A sync task can't be stopped: its thread goes on.
        retries: how often the task is called again after a time-out, a broken connection or a server's error.
        tags: tags of all cases, besides their own field `tags`.
        cluster: the field, maybe of the metadata, that names the group of a case, such as its document; cases of a
            group are not independent.
        assert_test: raise if a case fails or has an error, or if nothing could be measured.

    Returns:
        The result, which reads its cases on access. With several tasks it has `by_variant`, `rankings` and `best`.

    Raises:
        SuiteFailed: `assert_test` is set and the suite did not pass.
    """
    suite_name, options = _find_suite_name(name, task), _Options(concurrency, repeats, timeout, retries, tags, cluster)
    build = functools.partial(_build_suite, suite_name, data, task, scorers, options)
    return run_to_end(suite_name, ScriptFront(build, assert_test=assert_test))


@record
class _Options:
    """The options of `evaluate`, not checked yet."""

    concurrency: Any = 10
    repeats: Any = None
    timeout: Any = None
    retries: Any = 0
    tags: Any = ()
    cluster: Any = None

    def limits(self, problems: list[str]) -> RunLimits:
        """The limits of the run; a wrong option has its default."""
        return read_limits(
            self.concurrency,
            self.retries,
            self.timeout,
            problems,
            names=("concurrency", "retries"),
            show="{!r:.60}".format,
        )

    def cases(self, selection: Selection, problems: list[str]) -> Cases:
        """The reader of cases; a wrong option has its default."""
        repeats, tags, cluster = self.repeats, self.tags, self.cluster
        if repeats is not None and not is_whole_number(repeats, 1):
            problems.append(f"repeats must be a whole number of at least 1, not {repeats!r:.60}")
            repeats = None
        tags = (tags,) if isinstance(tags, str) else tags
        if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) and tag for tag in tags):
            problems.append(f"tags must be a list of texts, not {tags!r:.60}")
            tags = ()
        if cluster is not None and not isinstance(cluster, str):
            problems.append(f"cluster must be the name of a field, not {cluster!r:.60}")
            cluster = None
        return Cases(repeats or selection.repeats or 1, tuple(tags), cluster)


def _find_suite_name(name: Any, task: Any) -> str:
    """The name of a suite: the given one, otherwise that of its task; a substitute if both are missing or invalid."""
    if name is None:
        if not callable(task) and isinstance(task, Mapping | list | tuple):
            return _NO_NAME
        while isinstance(task, functools.partial):
            task = task.func
        name = getattr(task, "__name__", None) or type(task).__name__
    return name if isinstance(name, str) and name.strip() and name != "<lambda>" else _NO_NAME


def _build_suite(name: str, data: Any, task: Any, scorers: Any, options: _Options, selection: Selection) -> Suite:
    """The suite. Invalid parts are left out, and `problems` names them."""
    problems: list[str] = []
    if name == _NO_NAME:
        problems.append("it needs a name: evaluate('opening-hours', data=…, task=…)")
    wrong_options: list[str] = []
    reader, limits = options.cases(selection, wrong_options), options.limits(wrong_options)
    rows = _read_rows(data, problems)
    fields = {field for row in rows for field in row.fields}
    known = {*fields, *(name for row in rows for name in row.metadata)} if reader.cluster is not None else fields
    if reader.cluster is not None and rows and reader.cluster not in known:
        wrong_options.append(f"no case has a field {reader.cluster!r:.60}, which `cluster` names")
    problems += wrong_options
    tasks = list_tasks(task, problems)
    named = {None: task} if tasks is None else tasks
    are_typed = all(isinstance(row.case, GivenCase) for row in rows)
    made = {key: _make_task(each, fields, problems, key, are_typed=are_typed) for key, each in named.items()}
    calls = {key: call for key, call in made.items() if call is not None}
    cases = list(reader.build(rows, problems))
    built = build_scorers(scorers, fields, problems) if rows else Scorers([])
    if built.needs_trace:
        from scoregate.evals.tracing import TaskRecorder

        recorder = TaskRecorder(name, reads_trajectory=built.needs_trajectory)
        calls = {key: recorder.record(call) for key, call in calls.items()}
    suite = Suite(
        id=name,
        cases=cases if calls and not wrong_options else [],
        task=calls.get(None, _do_nothing),
        tasks={key: call for key, call in calls.items() if key is not None},
        variants=[{TASK: key} for key in calls if key is not None] or (None,),
        describe=reader.describe,
        output_form=serialize_outcome,
        trace_form=serialize_trajectory,
        scorers=built.scorers,
        limits=limits,
        problems=[ErrorInfo("InvalidSuite", f"suite {name!r:.100}: {text}") for text in problems],
    )
    return select_suite(suite, selection, "none of its cases has an id that was asked for")


def _read_rows(data: Any, problems: list[str]) -> list[Row]:
    file = find_caller_file()
    rows = read_data(data, file and file.parent, problems)
    if not rows and not problems:
        name = f" {str(data)!r:.200}" if isinstance(data, str | Path) else ""
        problems.append(f"the data{name} has no cases")
    return rows


def _make_task(task: Any, fields: set[str], problems: list[str], name: str | None, *, are_typed: bool) -> Any:
    if not callable(task):
        problems.append(f"task must be callable, not {task!r:.100}")
        return None
    if not fields:
        return None
    try:
        return make_task(task, fields, takes_input=are_typed)
    except TypeError as error:
        problems.append(f"the task{'' if name is None else f' {name!r}'} can't be called: {error}")
        return None


def _do_nothing(_: Any) -> None:
    """The task of a suite without cases."""
