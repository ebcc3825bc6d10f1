"""Options that the questions of `scoregate history` share: which runs they read, and where their answer goes."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from scoregate.cli.history_formats import FORMATS, TABLE, AnswerTarget
from scoregate.cli.options import combine_options
from scoregate.errors import UsageError
from scoregate.features.history.names import check_runs
from scoregate.features.history.queries import RunFilter
from scoregate.features.history.stores import HistoryStore
from scoregate.kernel.types.records import record

_AGE = re.compile(r"(?P<number>\d{1,5})(?P<unit>[hdw])")
_UNITS = {"h": 3_600, "d": 86_400, "w": 7 * 86_400}


@record
class RunChoice:
    """Which runs a question reads, as typed: since a time, of a branch, of a project other than this one."""

    since: str | None = None
    branch: str | None = None
    project: str | None = None

    def find(self, store: HistoryStore, project: str) -> RunFilter:
        """The filter of the runs.

        Args:
            store: the history.
            project: the project's name in it.

        Raises:
            UsageError: the time is none, or the history has no run of this project or branch.
        """
        since = parse_since(self.since) if self.since else None
        chosen = RunFilter(project, self.branch, since=since)
        check_runs(store, chosen)
        return chosen


def parse_since(text: str) -> float:
    """A time in seconds since the epoch: so long ago, such as 90d, or a date.

    Raises:
        UsageError: it is neither.
    """
    if match := _AGE.fullmatch(text):
        return time.time() - int(match["number"]) * _UNITS[match["unit"]]
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        advice = "Write 36h, 90d, 12w, or a date such as 2026-01-31."
        raise UsageError(f"--since {text!r:.60} is not a time", advice=advice) from None


_run_flags: Callable[[Any], Any] = combine_options(
    click.option("--since", metavar="AGE|DATE", help="Only runs since then: 36h, 90d, 12w, or a date."),
    click.option("--branch", metavar="NAME", help="Only runs of this branch."),
    click.option("--project", metavar="NAME", help="Project in a shared history; default: this repository."),
)
_answer_flags: Callable[[Any], Any] = combine_options(
    click.option(
        "--format", "form", type=click.Choice(FORMATS), default=TABLE, show_default=True, help="Output format."
    ),
    click.option(
        "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="File; default: stdout."
    ),
)


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --since, --branch and --project; the function gets them as `choice`."""

    @functools.wraps(function)
    def command(*args: Any, since: str | None, branch: str | None, project: str | None, **flags: Any) -> Any:
        return function(*args, choice=RunChoice(since, branch, project), **flags)

    wrapped: Callable[..., Any] = _run_flags(command)
    return wrapped


def answer_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --format and --output; the function gets them as `target`."""

    @functools.wraps(function)
    def command(*args: Any, form: str, output: Path | None, **flags: Any) -> Any:
        return function(*args, target=AnswerTarget(form, output), **flags)

    wrapped: Callable[..., Any] = _answer_flags(command)
    return wrapped
