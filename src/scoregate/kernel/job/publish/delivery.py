"""Deliver reports with all publishers; a failed one is a warning and does not stop the others."""

from __future__ import annotations

import os
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from scoregate.errors import ScoregateError
from scoregate.kernel.job.github.commands import command, outputs_text
from scoregate.kernel.job.github.context import Connection, PullRequest
from scoregate.kernel.judge.archive import RUN_FOLDER
from scoregate.kernel.judge.settings import CommentMode
from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    from scoregate.kernel.report.view import ReportView

PENDING = "comment-pending"
Render: TypeAlias = Callable[["ReportView"], Iterable[str]]


@record
class PublishTarget:
    """Where reports can go.

    Args:
        out: the folder of the run and its reports.
        files: the reports to write there, by name.
        named: the folder, as other steps of the job know it; None for `out`.
        connection: None outside of CI.
        request: the pull request to comment on, if there is one.
        read_only: the token can't write; a later job with more rights comments.
        measured_here: this run of the workflow measured the results.
        stored: whether to store the run on the data branch.
        comment: when to comment.
        annotations: whether to write annotations.
        redact: removes known secrets from text.
        redact_chunks: removes known secrets from text in chunks.
        log: writes a line to the log of the job, where commands work.
    """

    out: Path
    files: Mapping[str, Render]
    named: Path | None = None
    connection: Connection | None = None
    request: PullRequest | None = None
    read_only: bool = False
    measured_here: bool = True
    stored: bool = False
    comment: CommentMode = CommentMode.ALWAYS
    annotations: bool = True
    redact: Callable[[str], str] = str
    redact_chunks: Callable[[Iterable[str]], Iterable[str]] = iter
    log: Callable[[str], None] = print


@record
class Delivery:
    """The result of a publisher: outputs for later steps, and warnings about failures."""

    outputs: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def pending(self) -> bool:
        """Whether a job with more rights must write the comment."""
        return self.outputs.get(PENDING) == "true"

    def __add__(self, other: Delivery) -> Delivery:
        """Combine two results."""
        return Delivery({**self.outputs, **other.outputs}, self.warnings + other.warnings)


def describe_error(error: Exception) -> str:
    """An unexpected error and its source, for a warning."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error!s:.300} ({Path(place.filename).name}:{place.lineno}; internal error)"


def write_first_outputs(target: PublishTarget) -> None:
    """Set the paths before anything runs, so that the results of a killed process can be uploaded."""
    if target.connection is None or (file := target.connection.github.output) is None:
        return
    values = {
        "run-path": _below_workspace((target.named or target.out) / RUN_FOLDER, target),
        "artifact-name": target.connection.artifact,
    }
    with (
        suppress(OSError),
        file.open("a", encoding="utf-8", newline="\n") as stream,
    ):  # reported when all outputs are written
        stream.write(outputs_text(values))


async def write_outputs(view: ReportView, target: PublishTarget, outputs: Mapping[str, str]) -> Delivery:
    """Set all outputs of the step, if this is a step.

    Paths are relative to the workspace, so that they are valid inside and outside of a container. Files that were not
    written have no path. Outputs are not redacted: they hold no text of suites.
    """
    if target.connection is None or (file := target.connection.github.output) is None:
        return Delivery()
    rate, out = view.totals.pass_rate, target.named or target.out
    values = {
        "conclusion": str(view.verdict.conclusion),
        "pass-rate": "" if rate is None else f"{rate:.4f}",
        "failed-gates": str(len(view.failed)),
        "comment-url": "",
        PENDING: "false",
        "run-path": _existing_path(out / RUN_FOLDER, target),
        "report-path": _existing_path(out / "report.html", target),
        "junit-path": _existing_path(out / "junit.xml", target),
        "artifact-name": target.connection.artifact,
        **outputs,
    }
    with file.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write(outputs_text(values))
    return Delivery()


def _existing_path(path: Path, target: PublishTarget) -> str:
    """The path of a file; empty if it was not written."""
    return _below_workspace(path, target) if path.exists() else ""


def _below_workspace(path: Path, target: PublishTarget) -> str:
    workspace = target.connection.github.workspace if target.connection else None
    return os.path.relpath(path, workspace) if workspace else str(path)


MOST_WARNINGS = 5
Publisher: TypeAlias = Callable[["ReportView", PublishTarget], Awaitable[Delivery]]


async def deliver(view: ReportView, target: PublishTarget, publishers: Iterable[Publisher]) -> Delivery:
    """Deliver the reports and set the step's outputs.

    Returns:
        The combined result. In a job, the warnings are in the log, too.
    """
    total = Delivery()
    for publisher in publishers:
        total += await _deliver_one(publisher(view, target))
    total += await _deliver_one(write_outputs(view, target, total.outputs))
    if target.connection is not None:
        # The runner shows at most ten warnings of a step, so the last ones are combined.
        rest = "\n".join(total.warnings[MOST_WARNINGS - 1 :])
        for warning in (*total.warnings[: MOST_WARNINGS - 1], *filter(None, (rest,))):
            target.log(command("warning", target.redact(warning), title="scoregate"))
    return total


async def _deliver_one(work: Awaitable[Delivery]) -> Delivery:
    try:
        return await work
    except ScoregateError as error:
        return Delivery(warnings=(str(error),))
    except OSError as error:
        return Delivery(warnings=(f"{error.filename or 'a file'} cannot be written: {error.strerror}",))
    except Exception as error:  # an error in one publisher must not stop the others or change the exit code
        return Delivery(warnings=(describe_error(error),))
