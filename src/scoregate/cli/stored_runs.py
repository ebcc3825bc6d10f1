"""Finished runs: load them with the settings of their suites and apply the gates again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from scoregate.cli.options import load_gate_settings, load_project_settings
from scoregate.errors import UsageError
from scoregate.features.steps import load_steps
from scoregate.kernel.job.baseline.file import find_compared_baseline, read_baseline
from scoregate.kernel.judge.archive import read_run, run_folder
from scoregate.kernel.judge.judgement import Baseline, ComparedSides
from scoregate.kernel.judge.policy import read_stored_policy
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.discovery import with_suite_gates
from scoregate.kernel.run.partial_run import with_one_run_limits
from scoregate.kernel.types.declarations.declaration import RunFacts
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import NO_SLOTS, Slots
from scoregate.store import open_store, read_calibrations
from scoregate.store.apply_reviews import apply_reviews

NO_BASELINE = Baseline(None, "no baseline was named")


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


@record
class Change:
    """What a command replaces of what a finished run is judged with.

    Attributes:
        baseline: the baseline, or its folder; None for the one that the run was compared with.
        slots: replace what features would find.
        keeps_limits: whether limits that were set for the run alone, such as `--max-drop`, hold, too.
        same_scores: whether settings that scores are read with must be those of the run; else a notice names them.
    """

    baseline: Path | Baseline | None = None
    slots: Slots = NO_SLOTS
    keeps_limits: bool = False
    same_scores: bool = False


def find_stored_sides(run: Path, root: Path, settings: Settings, change: Change) -> ComparedSides:
    """Find what a finished run is judged with, with the current reviews and settings.

    Args:
        run: the folder of the run.
        root: the folder of the project.
        settings: the settings of the project.
        change: what else replaces what it was judged with.

    Raises:
        RecordError: a run can't be read.
        StoreError: the reviews can't be read.
        UsageError: scores depend on settings that have changed since the run.
        SettingsError: the accepted regressions or the quarantine can't be read.
    """
    finished = read_run(run)
    for problem in _list_changed_settings(run, finished, settings):
        if change.same_scores:
            raise UsageError(problem, advice="A gate doesn't read scores again: run the suites again.")
        finished = replace(finished, notices=(*finished.notices, f"{problem}, which still apply to them"))
    if change.keeps_limits:
        settings = with_one_run_limits(settings, finished.policy)
    baseline = change.baseline or _find_known_baseline(finished, run_folder(run), root)
    if isinstance(baseline, Path):
        baseline = read_baseline(baseline)
    slots = anyio.run(_restore_sides, finished, root, settings, change.slots)
    with_reviews = partial(apply_reviews, store=open_store)
    return ComparedSides(
        with_reviews(finished),
        baseline.with_runs(with_reviews),
        settings,
        slots,
        lambda: read_calibrations(open_store()),
    )


def _find_known_baseline(run: Run, folder: Path, root: Path) -> Baseline:
    if (found := find_compared_baseline(run, folder, root)) is not None:
        return found
    if (known := run.compared_with) is None:
        return NO_BASELINE
    return Baseline(None, f"its baseline {known.name or known.id} isn't on this machine: name one with --baseline")


async def _restore_sides(run: Run, root: Path, settings: Settings, slots: Slots) -> Slots:
    for step in load_steps(RunFacts(settings, root, runs=(run,), slots=slots)):
        slots = await step.restore_sides(run, root, settings, slots)
    return slots


def _list_changed_settings(path: Path, run: Run, settings: Settings) -> Iterator[str]:
    """The settings that a run was recorded with and that have changed since, as sentences."""
    if (stored := read_stored_policy(run)) is None:
        return
    own = (settings.proposed or settings).policy()
    if changed := _find_score_settings(run, stored.criteria, own.criteria):
        yield f"scores of {path} were read with other settings of {', '.join(changed)} in [evaluators]"
    if changed := [each.label for each in run.suites if stored.limits_of(each).cluster != own.limits_of(each).cluster]:
        yield f"clusters of {path} were found with another `cluster` for {', '.join(changed)}"


def _find_score_settings(run: Run, stored: Criteria, own: Criteria) -> list[str]:
    """The globs of evaluators with another `scale`, `threshold` or `ignore` than the run was recorded with."""
    before, now = stored.score_settings, own.score_settings
    changed = {each[0] for each in (*before, *now) if each not in before or each not in now}
    if not changed and before != now:
        changed = {each[0] for each in now}  # in another order: later globs win
    ignored = {glob for glob, *_, ignores in before if ignores}
    names = {name for suite in run.suites for name in suite.evaluators}
    return sorted(glob for glob in changed if glob in ignored or any(fnmatchcase(name, glob) for name in names))
