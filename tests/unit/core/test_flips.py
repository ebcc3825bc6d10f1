"""Flipped cases with several trials: a repeat is not a case."""

from __future__ import annotations

import pytest

from scoregate.ci.report.suites import build_totals
from scoregate.core.comparison.comparison import Comparison, compare
from scoregate.core.evaluation import Evaluation, Threshold
from scoregate.core.event_values import EvaluatorInfo
from scoregate.core.runs.case_columns import Columns
from scoregate.core.runs.cases import CaseResult
from scoregate.core.runs.run import Run, SuiteResult


def run_of(trials: dict[str, str]) -> Run:
    """A run with the trials of each case: `P` passes and `F` fails."""
    columns = Columns()
    for case, outcomes in trials.items():
        for repeat, outcome in enumerate(outcomes):
            evaluation = Evaluation(float(outcome == "P"), Threshold(gte=1.0))
            columns.add(CaseResult(0, case, repeat, evaluations={"e": evaluation}))
    suite = SuiteResult("s", "s", evaluators={"e": EvaluatorInfo("e")}, complete=True, columns=columns)
    return Run("run", 0.0, 1.0, "0", complete=True, suites=(suite,))


def list_flips(comparison: Comparison) -> tuple[list[str], list[str]]:
    hashes = comparison.run.suites[0].columns.hashes
    failing, passing = comparison.newly_failing, comparison.newly_passing
    return [hashes[flip.row] for flip in failing], [hashes[flip.row] for flip in passing]


@pytest.mark.parametrize(
    ("new", "old", "found"),
    [
        ("F", "P", (["c"], [])),
        ("P", "F", ([], ["c"])),
        ("FPP", "PPP", ([], [])),
        ("FFP", "PFP", (["c"], [])),
        ("FP", "PP", ([], [])),
        ("FFF", "P", (["c"], [])),
        ("PFP", "FFP", ([], ["c"])),
    ],
)
def test_a_case_flips_when_most_of_its_trials_do(new: str, old: str, found: tuple[list[str], list[str]]) -> None:
    assert list_flips(compare(run_of({"c": new}), run_of({"c": old}))) == found


def test_the_order_of_failing_trials_is_ignored() -> None:
    old = {f"c{index}": "PPF" for index in range(20)}
    comparison = compare(run_of(dict.fromkeys(old, "FPP")), run_of(old))
    counts = build_totals(comparison)
    assert list_flips(comparison) == ([], [])
    assert (counts.newly_failing, counts.newly_passing, counts.paired, counts.pass_rate_change) == (0, 0, 20, 0.0)


def test_the_pass_rate_changes_by_parts_of_cases() -> None:
    counts = build_totals(compare(run_of({"a": "PPF", "b": "F"}), run_of({"a": "PPP", "b": "P"})))
    assert counts.pass_rate_change == pytest.approx((-1 / 3 - 1) / 2)


def test_the_rows_of_a_flip_are_trials_that_show_it() -> None:
    comparison = compare(run_of({"c": "PFF"}), run_of({"c": "FPP"}))
    (flip,) = comparison.newly_failing
    assert (flip.row, flip.base_row) == (1, 1)
