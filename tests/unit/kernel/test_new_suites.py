"""Relative gates where a suite, or the whole run, has no baseline."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.kernel.builders import ERROR, ExampleSuite, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import BaseReference

EVERY = Limits(
    max_drop={"*": 0.1},
    fail_on_regression=True,
    fail_on_critical=True,
    max_cost_ratio=1.5,
    max_tokens_ratio=1.5,
    max_p95_ratio=1.5,
)
TAGS = {"c0": ("critical",)}
GOOD = ExampleSuite(scored(*[1.0] * 12), tags=TAGS)
NEW = ExampleSuite(scored(*[ERROR] * 8, *[0.0] * 4), id="new", tags=TAGS)


@pytest.mark.parametrize("limits", [EVERY, replace(EVERY, min_pass_rate=0.0)])
def test_a_new_suite_is_compared_with_nothing(limits: Limits) -> None:
    for base in (run_of(GOOD), None):
        verdict = evaluate_gates(compare(run_of(GOOD, NEW), base), Policy(limits))
        assert verdict.exit_code == 0, [each.value for each in verdict.failed]
        assert {each.suite for each in verdict.findings if each.rule in ("drop", "regression")} <= {"demo"}


def test_a_run_that_had_a_baseline_needs_none_without_relative_gates() -> None:
    run = replace(run_of(GOOD), compared_with=BaseReference("base"))
    for limits, exit_code in ((Limits(), 0), (Limits(max_cost_ratio=1.5), 3)):
        assert evaluate_gates(compare(run, None), Policy(limits)).exit_code == exit_code


def test_labels_in_the_place_of_scores_are_no_silence() -> None:
    both = {f"c{case}": {"e": 1.0, "tone": None} for case in range(12)}
    base = run_of(ExampleSuite({case: {"e": 1.0, "tone": 1.0} for case in both}))
    for labels, count in ({}, 1), ({"tone": {"kind": 12}}, 0):
        new = run_of(ExampleSuite(both))
        new.suites[0].columns.labels.update(labels)
        found = evaluate_gates(compare(new, base), Policy(Limits())).failed
        assert len([each for each in found if each.value == "no score, though the baseline has some"]) == count
