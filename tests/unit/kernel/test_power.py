"""What is needed to detect a drop: checked by simulation and in edge cases."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.compare.power import RequiredSize, required_sizes
from scoregate.kernel.compare.statistics.intervals import detectable_change
from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult


def run_of(scores: list[list[float]]) -> Run:
    """A run of one suite with one evaluator `e`, and a list of repeats per case."""
    columns = Columns()
    for number, repeats in enumerate(scores):
        for repeat, score in enumerate(repeats):
            columns.add(CaseResult(0, f"case {number}", repeat, evaluations={"e": Evaluation(score)}))
    suite = SuiteResult("s", "s", evaluators={"e": EvaluatorInfo("e")}, complete=True, trials=Trials(columns))
    return Run("id", 0.0, RunEnd(1.0, complete=True), RunCode("0"), suites=(suite,))


def need_of(run: Run, base: Run | None, drop: float) -> RequiredSize:
    return next(iter(required_sizes(compare(run, base), drop)))


def draw_scores(source: random.Random, n: int, repeats: int, shift: float = 0.0) -> list[list[float]]:
    return [[min(1.0, max(0.0, source.gauss(0.6 - shift, 0.15))) for _ in range(repeats)] for _ in range(n)]


@pytest.mark.parametrize("repeats", [1, 3])
def test_the_suggested_cases_have_80_percent_power(repeats: int) -> None:
    source = random.Random(7)
    pilot = need_of(run_of(draw_scores(source, 400, repeats)), run_of(draw_scores(source, 400, repeats)), 0.05)
    found = sum(
        compare(
            run_of(draw_scores(source, pilot.cases, repeats, 0.05)), run_of(draw_scores(source, pilot.cases, repeats))
        )
        .rows[0]
        .label
        is RowLabel.WORSE
        for _ in range(150)
    )
    assert 0.72 <= found / 150 <= 0.98


def test_repeats_help_with_noise_within_cases() -> None:
    source = random.Random(3)
    need = need_of(run_of(draw_scores(source, 60, 3)), run_of(draw_scores(source, 60, 3)), 0.03)
    assert need.more_repeats is not None
    assert need.more_repeats > 3
    assert need.source.endswith("repeats")


def test_repeats_cannot_help_with_noise_between_cases() -> None:
    steady = [[0.2] * 3 if number % 2 else [0.9] * 3 for number in range(20)]
    moved = [[0.9] * 3 if number % 4 < 2 else [0.2] * 3 for number in range(20)]
    assert need_of(run_of(moved), run_of(steady), 0.05).more_repeats is None


def test_equal_pairs_are_not_certainty() -> None:
    same = run_of([[1.0]] * 30)
    need = need_of(same, same, 0.05)
    assert need.detectable > 0.05
    assert need.cases > 30


def test_without_base_or_repeats_the_maximum_is_named() -> None:
    need = need_of(run_of([[float(number % 2)] for number in range(40)]), None, 0.05)
    assert need.source.endswith("upper bound")


def test_one_case_is_too_few() -> None:
    assert list(required_sizes(compare(run_of([[1.0]]), None), 0.05)) == []


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("cases", [3, 40])
def test_equal_scores_are_not_certainty(cases: int, repeats: int) -> None:
    need = need_of(run_of([[1.0] * repeats] * cases), None, 0.05)
    assert need.detectable > 0.05
    assert need.cases > cases
    assert need.source.endswith("upper bound")


def test_equal_repeats_are_not_certainty() -> None:
    need = need_of(run_of([[float(number % 2)] * 2 for number in range(20)]), None, 0.05)
    assert (need.source, need.detectable > 0.05, need.cases > 20) == ("all repeats are equal: upper bound", True, True)


def test_without_base_or_repeats_the_variance_is_twice_that_of_the_scores() -> None:
    """Forty scores of 0 and 0.5, and one more that is as far from the mean as any."""
    need = need_of(run_of([[number % 2 / 2] for number in range(40)]), None, 0.05)
    variance = 2 * (40 * 0.0625 + 0.0625) / 41
    assert need.detectable == pytest.approx(detectable_change(variance, 0.5, 40))
    assert (need.source, need.repeats) == ("spread of the scores: upper bound", 1.0)


def test_a_suite_that_the_baseline_lacks_is_estimated_alone() -> None:
    run = run_of([[float(number % 2)] for number in range(40)])
    other = replace(run.suites[0], id="other", label="other")
    both = replace(run, suites=(run.suites[0], other))
    needs = list(required_sizes(compare(both, run), 0.05))
    assert [need.suite for need in needs] == ["s", "other"]
    assert needs[1] == replace(need_of(run, None, 0.05), suite="other")


def test_equal_scores_in_both_runs_have_an_upper_bound_only() -> None:
    same = run_of([[1.0]] * 20)
    assert need_of(same, same, 0.05).source == "all pairs are equal: upper bound"
