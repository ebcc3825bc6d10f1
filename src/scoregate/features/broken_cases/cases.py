"""The cases that a change may have broken."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from scoregate.features.broken_cases.declare import BrokenCases, choose_mode
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.flips import find_changed_evaluators
from scoregate.kernel.gate.case_rules import find_accepted_case, is_critical
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Limits
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.slots import Slot

BASE_RUNS: Slot[tuple[Run, ...]] = Slot("broken_cases.base_runs")
"""In a comparison: more runs of the base's commit, in which cases may have failed."""


@record
class BrokenCase:
    """A case that newly fails: its hash, and the evaluators that do not count."""

    case: str
    ignored: frozenset[str]


def list_base_runs(baseline: Baseline) -> tuple[Run, ...]:
    """More runs of the base's commit: those that are pooled, and those that repeat some of its cases."""
    return (*baseline.pool, *(baseline.run.companions_of(TrialRole.EXTRA) if baseline.run is not None else ()))


def list_broken_cases(
    comparison: Comparison, index: int, limits: Limits, uncalibrated: Collection[str]
) -> Iterator[BrokenCase]:
    """The cases of a suite that newly fail, and that its limits ask about.

    Not those that an entry accepts, that fail only in evaluators whose drop is accepted or whose judge people don't
    agree with, and those that another gate watches as critical.

    Args:
        comparison: the run and its baseline.
        index: the place of the suite in the run.
        limits: the limits of the suite.
        uncalibrated: the evaluators of the suite whose scores don't count.
    """
    mode, flips = choose_mode(limits), [flip for flip in comparison.newly_failing if flip.suite == index]
    if mode is BrokenCases.OFF or not flips or comparison.base is None:
        return
    suite, base = comparison.run.suites[index], comparison.base.suites[flips[0].base_suite]
    accepted = {row.evaluator for row in comparison.rows_of(suite.label) if row.allows_drop}
    ignored = frozenset(accepted.union(uncalibrated, find_changed_evaluators(suite, base)))
    unstable = set(_list_unstable(comparison, suite, base)) if mode is BrokenCases.STABLE else set[str]()
    for flip in flips:
        case = suite.columns.hashes[flip.row]
        failed = suite.columns.failed_evaluators(flip.row)
        is_watched = bool(limits.fail_on_critical) and is_critical(comparison, flip)
        if case in unstable or is_watched or (failed and failed <= ignored):
            continue
        if find_accepted_case(comparison, suite, case) is None:
            yield BrokenCase(case, ignored)


def _list_unstable(comparison: Comparison, suite: SuiteResult, base: SuiteResult) -> Iterator[str]:
    """The cases with a trial that did not pass in the base, or in the past of its branch."""
    runs = (*comparison.earlier_runs, *(comparison.slots.get(BASE_RUNS) or ()))
    others = (each for run in runs for each in run.suites if each.label == suite.label)
    for columns in (each.columns for each in (base, *others)):
        yield from (case for row, case in enumerate(columns.hashes) if columns.status(row) is not Status.PASSED)
