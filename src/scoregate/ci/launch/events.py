"""Events of a launch: what the host sees while scripts run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scoregate.core.event_values import ErrorInfo
from scoregate.core.events import Event
from scoregate.core.reducer import Tally
from scoregate.core.run import Script


@dataclass(frozen=True, slots=True)
class Started:
    """A script was launched."""

    script: str


@dataclass(frozen=True, slots=True)
class EventsReceived:
    """A script's suites wrote events into one of their logs."""

    script: str
    log: str
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a suite is whose cases are reported only at its end."""

    script: str
    tally: Tally


@dataclass(frozen=True, slots=True)
class Printed:
    """A script wrote a line to its standard output or error."""

    script: str
    line: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice for the report."""

    script: str
    notice: str


@dataclass(frozen=True, slots=True)
class Filtered:
    """A suite runs that no filter matches; its events are not passed on."""

    script: str
    suite: str


@dataclass(frozen=True, slots=True)
class Failed:
    """An error of a script that belongs to none of its suites; it counts with any exit code."""

    script: str
    error: ErrorInfo


@dataclass(frozen=True, slots=True)
class Finished:
    """A script has ended."""

    script: Script


LaunchEvent: TypeAlias = Started | EventsReceived | Progress | Printed | Notice | Filtered | Failed | Finished
EmitEvent: TypeAlias = Callable[[LaunchEvent], None]
