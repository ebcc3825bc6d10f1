"""Run a suite under its name: the step that the APIs of all SDKs share.

A comparison pairs suites by name, so each suite of a process has its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from scoregate.core.event_values import ErrorInfo, Origin
from scoregate.core.json_io import dump_plain, sort_sets
from scoregate.core.suite import Suite
from scoregate.engine.event_log import EventLog
from scoregate.engine.notebook import NotebookProgress
from scoregate.engine.run import run_suite
from scoregate.engine.sync import run_sync
from scoregate.errors import DiskFull

_Key: TypeAlias = tuple[Path | None, str, bytes]
_origins: dict[_Key, Origin | None] = {}


def run_named_suite(
    suite: Suite,
    folder: Path | None,
    *,
    is_main: bool,
    reuses: bool = False,
    progress: NotebookProgress | None = None,
    in_new_thread: bool = False,
) -> Sequence[EventLog]:
    """Run every variant of a suite. If a suite with its name ran before, it has an error and can't be measured.

    Args:
        suite: the suite.
        folder: the folder that the host reads; None without a host.
        is_main: whether the file that runs the suite is the one that Python was started with.
        reuses: whether results of an earlier run may be used again.
        progress: the line in a notebook.
        in_new_thread: whether the suite runs in a thread that doesn't keep the process from ending.

    Returns:
        The logs of the variants, which still need their last events.
    """
    checked = check_name(suite, folder, is_main=is_main)
    run = partial(run_suite, checked, folder, reuses=reuses, progress=progress)
    try:
        return run_sync(run, in_new_thread=in_new_thread)
    except BaseExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        if isinstance(first, DiskFull):  # every case has this error
            raise first from None
        raise


def check_name(suite: Suite, folder: Path | None, *, is_main: bool) -> Suite:
    """The suite, with a problem if one with the same name and parameters ran before.

    In a notebook or an ordinary test, a suite may run again. So only a host's processes are checked, and files that
    Python was started with.

    Args:
        suite: the suite that is about to run.
        folder: the folder of the host; None without a host.
        is_main: whether the file that runs the suite is the one that Python was started with.
    """
    if folder is None and not is_main:
        return suite
    keys = list(_make_keys(suite, folder))
    known = [key for key in keys if key in _origins]
    problems = (*suite.problems, _describe(suite, _origins[known[0]])) if known else suite.problems
    for key in keys:
        _origins.setdefault(key, suite.origin)
    return replace(suite, problems=problems)


def _make_keys(suite: Suite, folder: Path | None) -> Iterator[_Key]:
    for params in suite.variants:
        items = [] if params is None else sorted(params.items(), key=lambda item: str(item[0]))
        yield folder, suite.id, dump_plain(sort_sets(items))


def _describe(suite: Suite, first: Origin | None) -> ErrorInfo:
    place = "" if first is None else f" ({first.file}:{first.line})"
    text = f"a suite with this name ran before{place}; give each a name of its own, or pass several tasks to one suite"
    return ErrorInfo("InvalidSuite", f"suite {suite.id!r:.100}: {text}")
