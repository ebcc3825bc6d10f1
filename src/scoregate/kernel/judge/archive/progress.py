"""`.live.json`: the progress of an unfinished run, written by its process."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from scoregate.kernel.judge.archive.folder import open_nofollow
from scoregate.kernel.types.records import record

LIVE_FILE = ".live.json"
_MOST_BYTES = 1 << 20
_SAME_S = 2.0


@record
class LiveCount:
    """The progress of a run or a suite in cases. `planned` is None if unknown; `cost` is in US dollars."""

    done: int = 0
    planned: int | None = None
    passed: int = 0
    failed: int = 0
    errors: int = 0
    cost: float = 0.0


@record
class LiveSuite:
    """One suite. `means` holds the mean of the scores so far for each evaluator, in [0, 1]."""

    label: str
    count: LiveCount
    means: Mapping[str, float] = field(default_factory=dict)
    finished: bool = False


@record
class LiveCase:
    """A case that failed or has an error. `why` has a line for each evaluator or error."""

    suite: str
    name: str
    failed: bool
    why: tuple[str, ...] = ()


@record
class LiveRun:
    """The progress of a run, written by the process `pid`, which started at `born`.

    `started` is when the run started. `stage` is the folder of the current stage, next to the run's own; empty before
    the first one. `suites` are the first suites, `hidden` is the number of the others; `whole` counts all of them.
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


def write_live(folder: Path, live: LiveRun) -> None:
    """Write the file in one step: readers see the old or the new progress.

    Raises:
        OSError: it can't be written.
    """
    partial = folder / f"{LIVE_FILE}-{secrets.token_hex(4)}.partial"
    try:
        partial.write_bytes(to_json(live, inf_nan_mode="null"))
        partial.replace(folder / LIVE_FILE)
    finally:
        partial.unlink(missing_ok=True)


def read_live(folder: Path) -> LiveRun | None:
    """The progress of the run in a folder; None if there is none, or its process has ended."""
    try:
        with open(folder / LIVE_FILE, "rb", opener=open_nofollow) as file:
            text = file.read(_MOST_BYTES + 1)
        live = TypeAdapter(LiveRun).validate_json(text)
    except (OSError, ValidationError):
        return None
    if len(text) > _MOST_BYTES:
        return None
    started = process_start_time(live.pid)
    # Another process may have the id by now.
    return live if started is not None and abs(started - live.born) < _SAME_S else None


def remove_live(folder: Path, pid: int) -> None:
    """Remove the file at the end of a process; the file of another process stays."""
    if _is_written_by(folder / LIVE_FILE, pid) or read_live(folder) is None:
        with suppress(OSError):
            (folder / LIVE_FILE).unlink()


def _is_written_by(path: Path, pid: int) -> bool:
    with suppress(OSError, ValueError), open(path, "rb", opener=open_nofollow) as file:
        data = from_json(file.read(_MOST_BYTES))
        return isinstance(data, dict) and data.get("pid") == pid
    return False


def process_start_time(pid: int) -> float | None:
    """The start time of a running process; None if it is not running, or is a zombie."""
    if sys.platform == "linux":
        with suppress(OSError, ValueError, IndexError, StopIteration):
            return _read_start_time(pid)
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except (psutil.Error, OverflowError, ValueError):
        return None


def _read_start_time(pid: int) -> float | None:
    """The same without psutil, whose import takes 6 ms of each run (measured)."""
    # proc_pid_stat(5): the name is in parentheses, and may have some of its own; field 3 is the state, 22 the start.
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    boot = next(line for line in Path("/proc/stat").read_bytes().splitlines() if line.startswith(b"btime"))
    return None if fields[0] == b"Z" else int(fields[19]) / os.sysconf("SC_CLK_TCK") + int(boot.split()[1])
