"""Events of a launch: what the host sees while scripts run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import Event
from scoregate.kernel.types.media import MediaFile
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Script
from scoregate.kernel.types.runs.tally import Tally
from scoregate.kernel.types.trajectories.assignment import CaseTrace


@record
class Started:
    """A script was launched."""

    script: str


@record
class EventsReceived:
    """A script's suites wrote events into one of their logs."""

    script: str
    log: str
    events: Sequence[Event]


@record
class UsageCounted:
    """The usage of calls of a suite that belong to none of its events."""

    script: str
    log: str
    suite: str
    usage: Usage


@record
class TracesReceived:
    """Trajectories from the spans of a script's cases, which may have finished before; they can be read once."""

    script: str
    traces: Iterator[CaseTrace]


@record
class MediaReceived:
    """A script wrote an image or audio that its events refer to."""

    script: str
    file: MediaFile


@record
class Progress:
    """How far a suite is whose cases are reported only at its end."""

    script: str
    tally: Tally


@record
class Printed:
    """A script wrote a line to its standard output or error."""

    script: str
    line: str


@record
class Notice:
    """A notice for the report."""

    script: str
    notice: str


@record
class Filtered:
    """A suite runs that no filter matches; its events are not passed on."""

    script: str
    suite: str


@record
class Failed:
    """An error of a script that belongs to none of its suites; it counts with any exit code."""

    script: str
    error: ErrorInfo


@record
class Finished:
    """A script has ended."""

    script: Script


LaunchEvent: TypeAlias = (
    Started
    | EventsReceived
    | UsageCounted
    | TracesReceived
    | MediaReceived
    | Progress
    | Printed
    | Notice
    | Filtered
    | Failed
    | Finished
)
EmitEvent: TypeAlias = Callable[[LaunchEvent], None]
