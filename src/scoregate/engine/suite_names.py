"""The names of the suites that ran in this process. A comparison pairs suites by name, so each has its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from scoregate.core.event_values import ErrorInfo, Origin
from scoregate.core.json_io import dump_plain, sort_sets
from scoregate.core.suite import Suite

_Key: TypeAlias = tuple[Path | None, str, bytes]
_origins: dict[_Key, Origin | None] = {}


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
