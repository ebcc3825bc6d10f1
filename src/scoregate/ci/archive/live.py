"""`.live.json`: how far a run is that is not there yet, told by the process that makes it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from scoregate.ci.archive.opening import plainly

LIVE_FILE = ".live.json"
_MOST_BYTES = 1 << 20
_SAME_S = 2.0


@dataclass(frozen=True, slots=True)
class LiveCount:
    """How far something is. `planned` is None where nobody knows; `cost` is in US dollars."""

    done: int = 0
    planned: int | None = None
    passed: int = 0
    failed: int = 0
    errors: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class LiveSuite:
    """One suite. `means` are of the scores given so far, by evaluator, in [0, 1]."""

    label: str
    count: LiveCount
    means: Mapping[str, float] = field(default_factory=dict)
    finished: bool = False


@dataclass(frozen=True, slots=True)
class LiveCase:
    """A case that failed, or that an error came over. `why` says it in a line for each evaluator or error."""

    suite: str
    name: str
    failed: bool
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Live:
    """A run in the making, as the process `pid` tells it that was started at `born`.

    `started` is when its making began. `stage` is the folder of what is run just now, beside that of the run itself;
    empty before anything is. `suites` are the first of them, `hidden` is how many more there are; `whole` counts all.
    `failing` are the last cases that did not pass. Times are seconds since the epoch.
    """

    pid: int
    born: float
    started: float
    message: str | None = None
    stage: str = ""
    whole: LiveCount = field(default_factory=LiveCount)
    suites: tuple[LiveSuite, ...] = ()
    hidden: int = 0
    failing: tuple[LiveCase, ...] = ()


def write_live(folder: Path, live: Live) -> None:
    """Tell it; who reads sees this or what was told before, whole.

    Raises:
        OSError: it cannot be written.
    """
    partial = folder / f"{LIVE_FILE}-{secrets.token_hex(4)}.partial"
    try:
        partial.write_bytes(to_json(live, inf_nan_mode="null"))
        partial.replace(folder / LIVE_FILE)
    finally:
        partial.unlink(missing_ok=True)


def read_live(folder: Path) -> Live | None:
    """How far a run is that is being made there; None where none is, or its process has died."""
    try:
        with open(folder / LIVE_FILE, "rb", opener=plainly) as file:
            text = file.read(_MOST_BYTES + 1)
        live = TypeAdapter(Live).validate_json(text)
    except (OSError, ValidationError):
        return None
    return live if len(text) <= _MOST_BYTES and _is_alive(live) else None


def drop_live(folder: Path, pid: int) -> None:
    """Tell no more: the process that did has done its work. What another tells stays."""
    live = read_live(folder)
    if live is None or live.pid == pid:
        with suppress(OSError):
            (folder / LIVE_FILE).unlink()


def born(pid: int) -> float | None:
    """When a process was started that lives; None where there is none, or its parent has yet to hear of its end."""
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except (psutil.Error, OverflowError, ValueError):
        return None


def _is_alive(live: Live) -> bool:
    started = born(live.pid)
    return started is not None and abs(started - live.born) < _SAME_S
