"""Finished runs, as the commands that work on them take them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from scoregate.ci.archive import read_run, run_folder
from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.file import baseline_at, compared_base
from scoregate.ci.discovery import gated
from scoregate.ci.flow import Outcome, judged
from scoregate.ci.settings import Settings
from scoregate.cli.options import judging_settings_of, settings_of
from scoregate.core.calibration import Calibrations
from scoregate.core.record import Run
from scoregate.store import open_store, read_calibrations
from scoregate.store.counting import counted


def gated_settings(root: Path, flags: Mapping[str, Any]) -> Settings:
    """The settings of a project and of its suites, by which finished runs are judged.

    Raises:
        SettingsError: all that is wrong with them.
    """
    return anyio.run(gated, root, settings_of(root, flags))


def judging_gated_settings(root: Path, flags: Mapping[str, Any]) -> Settings:
    """As `gated_settings`, but with `policy_from = "base"` those of the base, for a run that is judged in its job.

    Raises:
        SettingsError: all that is wrong with them.
    """
    return anyio.run(gated, root, judging_settings_of(root, flags))


def rejudged(run: Path, baseline: Path | None, settings: Settings, *, root: Path | None = None) -> Outcome:
    """A finished run and a base, both with what people have said since, judged under the present settings.

    Args:
        run: the folder of the run. baseline: of the base.
        root: the project's folder. With it, and no base named, the base is the one that the run was compared with.

    Raises:
        RecordError: one of them cannot be read. StoreError: people's verdicts cannot be read.
    """
    finished = read_run(run)
    if baseline is not None:
        found = baseline_at(baseline)
    elif root is not None:
        found = compared_base(finished, run_folder(run), root) or Baseline(None, _missing(finished))
    else:
        found = Baseline(None, "no base was named")
    by_now = partial(counted, store=open_store)
    return judged(by_now(finished), found.with_runs(by_now), settings, _calibrations)


def _missing(run: Run) -> str:
    known = run.compared_with
    if known is None:
        return "no base was named"
    return (
        f"the base that it was compared with, {known.name or known.id}, isn't on this machine: name one with --baseline"
    )


def _calibrations() -> Calibrations:
    return read_calibrations(open_store())
