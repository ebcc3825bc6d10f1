"""The cases that a change may have broken."""

from __future__ import annotations

from collections.abc import Iterator

from scoregate.features.broken_cases.declare import BrokenCases
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.gate.case_rules import find_accepted_case
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.run import SuiteResult


def list_broken_cases(comparison: Comparison, index: int, mode: BrokenCases) -> Iterator[str]:
    """The hashes of the cases of a suite that newly fail, and that the mode asks about.

    Not those that an entry accepts, or that fail only in evaluators whose drop is accepted.

    Args:
        comparison: the run and its baseline.
        index: the place of the suite in the run.
        mode: which cases are asked about.
    """
    flips = [flip for flip in comparison.newly_failing if flip.suite == index]
    if mode is BrokenCases.OFF or not flips or comparison.base is None:
        return
    suite, base = comparison.run.suites[index], comparison.base.suites[flips[0].base_suite]
    earlier = [each for run in comparison.earlier_runs for each in run.suites if each.label == suite.label]
    unstable = {case for each in (base, *earlier) for case in _list_failed(each)} if mode is BrokenCases.STABLE else ()
    accepted = {row.evaluator for row in comparison.rows_of(suite.label) if row.allows_drop}
    for flip in flips:
        case = suite.columns.hashes[flip.row]
        failed = {name for name, rows in suite.columns.failed.items() if flip.row in rows}
        if case not in unstable and not failed <= accepted and find_accepted_case(comparison, suite, case) is None:
            yield case


def _list_failed(suite: SuiteResult) -> Iterator[str]:
    """The cases with a trial that did not pass."""
    columns = suite.columns
    yield from (case for row, case in enumerate(columns.hashes) if columns.status(row) is not Status.PASSED)
