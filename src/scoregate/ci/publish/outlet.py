"""What publishers work with, and what they leave behind."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from scoregate.ci.github.connection import Connection
from scoregate.ci.github.event import PullRequest
from scoregate.ci.report.view import ReportView
from scoregate.ci.settings import CommentMode

PENDING = "comment-pending"
Render: TypeAlias = Callable[[ReportView], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Outlet:
    """Where reports can go.

    Args:
        out: the folder of the run and its reports. files: what is written there, by name.
        named: the folder, as other steps know it; None for `out`.
        connection: None outside of jobs. request: the pull request to comment on, where there is one.
        read_only: the token may not write, and a later job with more rights is to comment.
        measured_here: what is told was measured by this very run of the workflow.
        stored: the run is to be kept on the data branch.
        redact: takes known secrets out of text. redact_chunks: out of a text in chunks.
        log: takes a line for the job's log, in which commands are alive.
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


@dataclass(frozen=True, slots=True)
class Delivery:
    """What came of one: outputs for later steps, and what could not be done."""

    outputs: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def pending(self) -> bool:
        """Whether a comment waits for somebody who may write it."""
        return self.outputs.get(PENDING) == "true"

    def __add__(self, other: Delivery) -> Delivery:
        """What came of both."""
        return Delivery({**self.outputs, **other.outputs}, self.warnings + other.warnings)


def described(error: Exception) -> str:
    """An unexpected error and its source, for a warning."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error!s:.300} ({Path(place.filename).name}:{place.lineno}; a fault of scoregate)"
