"""Finished runs, as the commands that work on them take them."""

from __future__ import annotations

import time
from pathlib import Path

from scoregate.ci.archive import read_run
from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.file import describe
from scoregate.ci.flow import Outcome
from scoregate.ci.settings import Settings
from scoregate.core.compare import compare
from scoregate.core.gate import judge


def judged(run: Path, baseline: Path | None, settings: Settings) -> Outcome:
    """A finished run, held against a finished base and judged under the present settings.

    Raises:
        RecordError: one of them cannot be read.
    """
    found = Baseline(None, "no base was named") if baseline is None else _read(baseline)
    comparison = compare(read_run(run), found.run, found.note)
    return Outcome(comparison, judge(comparison, settings.policy()))


def _read(path: Path) -> Baseline:
    run = read_run(path)
    return Baseline(run, describe(run, time.time()))
