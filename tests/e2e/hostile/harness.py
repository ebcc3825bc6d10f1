"""Collects attempts, runs each of them under a limit, and logs the outcome."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

# Written so that this file does not match itself.
SECRET = re.compile(
    rb"ghs_[0-9a-z]{20}|dummy-runtime-[t]oken|victim-[s]ecret-[0-9a-f]{32}|hidden-in-[h]ost|sk-rea[l]-[0-9a-f]{24}"
)
ATTEMPTS: list[tuple[str, Callable[[], object]]] = []
LOG = Path("hostile-log.jsonl")
MOUNTS = ("/github/file_commands", "/github/runner_temp/_runner_file_commands")
EVENTS = os.environ.get("SCOREGATE_EVENTS", "/nonexistent/events")
_LIMIT_S = 10


class TakesTooLongError(Exception):
    """An attempt has reached its limit."""


def attempt(goal: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    """Register a function that tries to reach a goal."""

    def register(function: Callable[[], object]) -> Callable[[], object]:
        ATTEMPTS.append((goal, function))
        return function

    return register


def run_attempts() -> None:
    """Run them all in their order; the log has a line for each."""
    signal.signal(signal.SIGALRM, _stop)
    for goal, function in ATTEMPTS:
        started = time.monotonic()
        signal.alarm(_LIMIT_S)
        try:
            evidence = function()
            outcome = f"BROKEN: {evidence!s:.200}" if evidence else "held"
        except (Exception, SystemExit) as error:  # whatever an attempt meets, the next one is made
            outcome = f"held: {type(error).__name__}: {error!s:.120}"
        finally:
            signal.alarm(0)
        with LOG.open("a") as log:
            log.write(
                json.dumps(
                    {
                        "goal": goal,
                        "attempt": function.__name__,
                        "outcome": outcome,
                        "seconds": round(time.monotonic() - started, 2),
                    }
                )
                + "\n"
            )


def _stop(*_: object) -> None:
    raise TakesTooLongError


def neighbours() -> list[int]:
    """Processes of all users that aren't descendants of this one: the host and the other suites."""
    own_session = os.getsid(0)
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in pids if session(pid) != own_session]


def session(pid: int) -> int:
    """The session of a process; 0 where it has ended."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def find_secret(data: bytes) -> str | None:
    """The first secret in some bytes; None without one."""
    secret = SECRET.search(data)
    return secret[0].decode() if secret else None


def first_success(paths: list[Path], do: Callable[[Path], object]) -> object:
    """Try it with each path, and return the first success with its path."""
    for path in paths:
        try:
            if secret := do(path):
                return f"{path}: {secret}"
        except OSError:
            continue
    return None
