"""Build a suite from the arguments of `evaluate`.

Each problem is reported, and the valid parts run. With a wrong option no case runs: calls of the task may cost much,
and nothing that they return would count.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scoregate.core.event_values import ErrorInfo
from scoregate.core.records import record
from scoregate.core.suite import TASK, RunLimits, Suite, read_limits
from scoregate.core.text import is_whole_number
from scoregate.engine.environment import Selection, select_suite
from scoregate.engine.imports import find_caller_file
from scoregate.evals.data import read_data
from scoregate.evals.rows import Cases, Row
from scoregate.evals.scorers import Scorers, build_scorers
from scoregate.evals.task import list_tasks, make_task, serialize_outcome, serialize_trajectory

NO_NAME = "(no name)"


@record
class Options:
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


def find_suite_name(name: Any, task: Any) -> str:
    """The name of a suite: the given one, otherwise that of its task; a substitute if both are missing or invalid."""
    if name is None:
        if not callable(task) and isinstance(task, Mapping | list | tuple):
            return NO_NAME
        while isinstance(task, functools.partial):
            task = task.func
        name = getattr(task, "__name__", None) or type(task).__name__
    return name if isinstance(name, str) and name.strip() and name != "<lambda>" else NO_NAME


def build_suite(name: str, data: Any, task: Any, scorers: Any, options: Options, selection: Selection) -> Suite:
    """The suite. Invalid parts are left out, and `problems` names them."""
    problems: list[str] = []
    if name == NO_NAME:
        problems.append("it needs a name: evaluate('opening-hours', data=…, task=…)")
    wrong_options: list[str] = []
    reader, limits = options.cases(selection, wrong_options), options.limits(wrong_options)
    rows = _read_rows(data, problems)
    fields = {field for row in rows for field in row.fields}
    if reader.cluster is not None and rows and reader.cluster not in fields:
        wrong_options.append(f"no case has a field {reader.cluster!r:.60}, which `cluster` names")
    problems += wrong_options
    tasks = list_tasks(task, problems)
    named = {None: task} if tasks is None else tasks
    made = {key: _make_task(each, fields, problems, key) for key, each in named.items()}
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


def _make_task(task: Any, fields: set[str], problems: list[str], name: str | None) -> Any:
    if not callable(task):
        problems.append(f"task must be callable, not {task!r:.100}")
        return None
    if not fields:
        return None
    try:
        return make_task(task, fields)
    except TypeError as error:
        problems.append(f"the task{'' if name is None else f' {name!r}'} can't be called: {error}")
        return None


def _do_nothing(_: Any) -> None:
    """The task of a suite without cases."""
