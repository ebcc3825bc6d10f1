"""What the host sees while scripts run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scoregate.core.events import ErrorInfo, Event
from scoregate.core.record import Script
from scoregate.core.tally import Tally


@dataclass(frozen=True, slots=True)
class Began:
    """A script was launched."""

    script: str


@dataclass(frozen=True, slots=True)
class Said:
    """A script's suites wrote events into one of their logs."""

    script: str
    log: str
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Counted:
    """How far a suite is that says what became of its cases only at its end."""

    script: str
    tally: Tally


@dataclass(frozen=True, slots=True)
class Printed:
    """A script wrote a line to its standard output or error."""

    script: str
    line: str


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something that the report should mention."""

    script: str
    notice: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A suite spoke that no filter chose; nothing else is told of it."""

    script: str
    suite: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Something went wrong with a script that is none of its suites' own, whatever code it exits with."""

    script: str
    error: ErrorInfo


@dataclass(frozen=True, slots=True)
class Ended:
    """A script is over."""

    script: Script


Happening: TypeAlias = Began | Said | Counted | Printed | Noticed | LeftOut | Failed | Ended
Tell: TypeAlias = Callable[[Happening], None]
