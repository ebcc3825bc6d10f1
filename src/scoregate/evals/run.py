"""Run a task on data and score its outputs."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from scoregate.engine.driver import run_to_end
from scoregate.engine.script_front import ScriptFront
from scoregate.evals.suite import Options, build_suite, find_suite_name

if TYPE_CHECKING:
    from scoregate.engine.eval_result import EvalResult

Data: TypeAlias = str | Path | Iterable[Any] | AsyncIterable[Any]
Tasks: TypeAlias = Callable[..., Any] | Mapping[str, Callable[..., Any]] | Sequence[Callable[..., Any]]


def evaluate(
    name: str | None = None,
    *,
    data: Data,
    task: Tasks,
    scorers: Iterable[Any] | Callable[..., Any] = (),
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
        data: the cases; or a path that ends in .csv, .tsv, .json, .jsonl or .yaml, relative to the working directory or
            to the calling file; or the name of a dataset of the store.
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
        cluster: the field that names the group of a case, such as its document; cases of a group are not independent.
        assert_test: raise if a case fails or has an error, or if nothing could be measured.

    Returns:
        The result, which reads its cases on access. With several tasks it has `by_variant`, `rankings` and `best`.

    Raises:
        SuiteFailed: `assert_test` is set and the suite did not pass.
    """
    suite_name, options = find_suite_name(name, task), Options(concurrency, repeats, timeout, retries, tags, cluster)
    build = partial(build_suite, suite_name, data, task, scorers, options)
    return run_to_end(suite_name, ScriptFront(build, assert_test=assert_test))
