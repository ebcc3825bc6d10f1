"""Finished runs: load them with the settings of their suites and apply the gates again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from scoregate.ci.archive import read_run, run_folder
from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.file import find_compared_baseline, read_baseline
from scoregate.ci.discovery import with_suite_gates
from scoregate.ci.pipeline import Outcome, judge_run
from scoregate.ci.settings import Settings
from scoregate.cli.options import load_gate_settings, load_project_settings
from scoregate.core.agreement import Calibrations
from scoregate.core.run import Run
from scoregate.store import open_store, read_calibrations
from scoregate.store.apply_reviews import apply_reviews


def load_suite_settings(root: Path, flags: Mapping[str, Any]) -> Settings:
    """Load the settings of a project and of its suites, to gate finished runs.

    Raises:
        SettingsError: settings are invalid; the message lists all problems.
    """
    return anyio.run(with_suite_gates, root, load_project_settings(root, flags))


def load_gate_suite_settings(root: Path, flags: Mapping[str, Any]) -> Settings:
    """As `gated_settings`, but with `policy_from = "base"` those of the base, for a run that is judged in its job.

    Raises:
        SettingsError: settings are invalid; the message lists all problems.
    """
    return anyio.run(with_suite_gates, root, load_gate_settings(root, flags))


def rejudge_run(run: Path, baseline: Path | None, settings: Settings, *, root: Path | None = None) -> Outcome:
    """Compare a finished run with a baseline, both with the current reviews, and apply the gates.

    Args:
        run: the folder of the run.
        baseline: the folder of the baseline.
        settings: the gates.
        root: the folder of the project; with it, the default baseline is the one the run was compared with.

    Raises:
        RecordError: a run can't be read.
        StoreError: the reviews can't be read.
    """
    finished = read_run(run)
    if baseline is not None:
        found = read_baseline(baseline)
    elif root is not None:
        found = find_compared_baseline(finished, run_folder(run), root) or Baseline(None, _missing_baseline(finished))
    else:
        found = Baseline(None, "no baseline was named")
    with_reviews = partial(apply_reviews, store=open_store)
    return judge_run(with_reviews(finished), found.with_runs(with_reviews), settings, _calibrations)


def _missing_baseline(run: Run) -> str:
    known = run.compared_with
    if known is None:
        return "no baseline was named"
    return f"its baseline {known.name or known.id} isn't on this machine: name one with --baseline"


def _calibrations() -> Calibrations:
    return read_calibrations(open_store())
