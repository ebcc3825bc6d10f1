"""Finished runs, as the commands that work on them take them."""

from __future__ import annotations

from pathlib import Path

from scoregate.ci.archive import read_run
from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.file import baseline_at
from scoregate.ci.flow import Outcome, judged
from scoregate.ci.settings import Settings


def rejudged(run: Path, baseline: Path | None, settings: Settings) -> Outcome:
    """A finished run, held against a finished base and judged under the present settings.

    Raises:
        RecordError: one of them cannot be read.
    """
    found = Baseline(None, "no base was named") if baseline is None else baseline_at(baseline)
    return judged(read_run(run), found, settings)
