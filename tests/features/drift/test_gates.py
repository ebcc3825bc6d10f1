"""Relative gates next to drift."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from tests.runs import change_run
from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.features.drift.step import STEP
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import Verdict, evaluate_gates
from scoregate.kernel.judge.judgement import find_adjusters
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Criteria, Limits, Policy
from scoregate.kernel.types.runs.run import Run


def draw(rate: float, seed: int, cases: int = 500) -> list[float]:
    source = random.Random(seed)
    return [float(source.random() < rate) for _ in range(cases)]


def run_on(scores: Sequence[float], commit: str = "base") -> Run:
    return change_run(run_of(ExampleSuite(scored(*scores), threshold=None)), commit=commit)


def judge(run: Run, base: Run, limits: Limits) -> Verdict:
    comparison = compare(run, base, adjusters=find_adjusters([STEP], run, base, lambda _: Criteria()))
    return evaluate_gates(comparison, Policy(limits))


@pytest.mark.parametrize("limits", [Limits(fail_on_regression=True), Limits(max_drop={"*": 0.1})])
def test_drift_that_hides_a_regression_fails_the_gate(limits: Limits) -> None:
    """The provider got better by as much as the change made it worse, so no score moved."""
    base = run_on(draw(0.7, 1))
    run, control = run_on(draw(0.7, 1), "head"), run_on(draw(0.9, 3))
    assert judge(run.add_companion(TrialRole.CONTROL, control), base, limits).exit_code == 1
    assert judge(run, base, limits).exit_code == 0


@pytest.mark.parametrize("limits", [Limits(fail_on_regression=True), Limits(max_drop={"*": 0.1})])
def test_drift_that_explains_a_drop_passes_the_gate(limits: Limits) -> None:
    base = run_on(draw(0.9, 1))
    run, control = run_on(draw(0.7, 2), "head"), run_on(draw(0.7, 3))
    found = judge(run.add_companion(TrialRole.CONTROL, control), base, limits)
    assert found.exit_code == 0
    assert "with the drift of the provider, which explains it" in found.findings[-1].value
    assert judge(run, base, limits).exit_code == 1
