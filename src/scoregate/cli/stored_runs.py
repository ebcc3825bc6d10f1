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
from scoregate.ci.pipeline import GateResult, judge_run
from scoregate.ci.run_call import with_one_run_limits
from scoregate.ci.settings import Settings
from scoregate.cli.options import load_gate_settings, load_project_settings
from scoregate.core.exemptions import Exemptions
from scoregate.store import open_store, read_calibrations
from scoregate.store.apply_reviews import apply_reviews


def load_suite_settings(root: Path, flags: Mapping[str, Any]) -> Settings:
    """Load the settings of a project and of its suites, to gate finished runs.

    Raises:
        SettingsError: settings are invalid; the message lists all problems.
    """
    return anyio.run(with_suite_gates, root, load_project_settings(root, flags))


def load_gate_suite_settings(root: Path, flags: Mapping[str, Any]) -> Settings:
    """As `load_suite_settings`, but with `policy_from = "base"` the settings of the base, for a run of the current job.

    Raises:
        SettingsError: settings are invalid; the message lists all problems.
    """
    return anyio.run(with_suite_gates, root, load_gate_settings(root, flags))


def rejudge_run(
    run: Path,
    baseline: Path | None,
    settings: Settings,
    *,
    root: Path | None = None,
    exemptions: Exemptions | None = None,
    keep_limits: bool = False,
) -> GateResult:
    """Compare a finished run with a baseline, both with the current reviews, and apply the gates.

    Args:
        run: the folder of the run.
        baseline: the folder of the baseline.
        settings: the gates.
        root: the folder of the project; with it, the default baseline is the one the run was compared with.
        exemptions: the accepted regressions and quarantined cases.
        keep_limits: whether limits that were set for the run alone, such as `--max-drop`, hold, too.

    Raises:
        RecordError: a run can't be read.
        StoreError: the reviews can't be read.
    """
    finished = read_run(run)
    if keep_limits:
        settings = with_one_run_limits(settings, finished.policy)
    base = None
    note = "no baseline was named"
    if baseline is not None:
        base = read_baseline(baseline)
    elif root is not None:
        base = find_compared_baseline(finished, run_folder(run), root)
        if known := finished.compared_with:
            note = f"its baseline {known.name or known.id} isn't on this machine: name one with --baseline"
    base = base or Baseline(None, note)
    with_reviews = partial(apply_reviews, store=open_store)
    return judge_run(
        with_reviews(finished),
        base.with_runs(with_reviews),
        settings,
        lambda: read_calibrations(open_store()),
        exemptions=exemptions,
    )
