"""A base that is a run on disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import anyio.to_thread

from scoregate.ci.archive import CASES_FILE, read_run
from scoregate.ci.baseline import Baseline
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.core.record import Run

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


async def read_baseline(root: Path, settings: Settings, *, clock: Callable[[], float] = time.time) -> Baseline | None:
    """The base as far as the settings name one that is there; None where it is to be run first.

    Args:
        root: what the path in the settings is relative to. clock: seconds since the epoch.

    Raises:
        RecordError: there is no run at that path, or one that cannot be read.
    """
    if settings.baseline_kind is BaselineKind.RERUN:
        return None
    if settings.baseline_kind is BaselineKind.NONE:
        return Baseline(None, "no base was asked for")
    run = await anyio.to_thread.run_sync(read_run, root / settings.baseline)
    return Baseline(run, describe(run, clock()))


def describe(run: Run, now: float) -> str:
    """A run in words, such as `run of main@a1b2c3d, 3 hours old`. `now` is in seconds since the epoch."""
    commit = run.commit[:7] if run.commit else None
    named = "@".join(part for part in (run.branch, commit) if part)
    words = [f"run of {named}" if named else "run of no known commit"]
    words += ["with changes"] if run.dirty else []
    words.append(_age(now - run.finished))
    words += ["incomplete"] if not run.complete else []
    words += [notice for notice in run.notices if notice.startswith(CASES_FILE)]
    return ", ".join(words)


def _age(seconds: float) -> str:
    for unit, length in _UNITS:
        if (count := int(seconds // length)) > 0:
            return f"{count} {unit}{'s' if count > 1 else ''} old"
    return "just made"
