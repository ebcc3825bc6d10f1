"""The control of the base's cases: the shift of the provider, the corrected change, and the cases that are needed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import pytest
from tests.runs import change_run
from tests.unit.stats.builders import SAME, run_of, suite_of

from scoregate.features.drift.estimate import Drift, DriftEstimate, DriftState
from scoregate.features.drift.step import STEP
from scoregate.features.slices.cases import SuiteSlices
from scoregate.features.slices.keys import TABLE
from scoregate.features.slices.rows import add_slices
from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.judge.judgement import find_adjusters
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run

Table = dict[int, float | None]


def make_run(*tables: Table, commit: str = "base", name: str = "e", model: str = "m") -> Run:
    """A run of one suite; each table has an evaluator's score of each case, None for an error."""
    evaluators = {
        f"{name}{index}": {str(case): [score] for case, score in each.items()} for index, each in enumerate(tables)
    }
    infos = [EvaluatorInfo(each, replace(SAME, model=model)) for each in evaluators]
    return change_run(run_of(suite_of(evaluators, infos=infos)), commit=commit)


def draw(rate: float, cases: int, seed: int) -> Table:
    source = random.Random(seed)
    return {case: float(source.random() < rate) for case in range(cases)}


def compare_all(run: Run, base: Run, **more: Any) -> Comparison:
    return compare(run, base, adjusters=find_adjusters([STEP], run, base, lambda _: Criteria()), **more)


def compare_slices(run: Run, base: Run, slices: Sequence[SuiteSlices]) -> dict[str, Row]:
    table = add_slices(compare_all(run, base), lambda _: slices).slots.get(TABLE)
    assert table is not None
    return {each.value: each.row for each in table.rows}


def compare_with(control: Run | None, new: Run, base: Run) -> Row:
    run = change_run(new, commit="head")
    return compare_all(run if control is None else run.add_companion(TrialRole.CONTROL, control), base).rows[0]


def drift_of(row: Row) -> Drift:
    assert isinstance(row.adjustment, Drift)
    return row.adjustment


def test_the_corrected_change_is_change_minus_shift() -> None:
    base, new = draw(0.9, 600, 1), draw(0.78, 600, 2)
    control = {case: score for case, score in draw(0.78, 600, 3).items() if case % 2}
    row = compare_with(make_run(control), make_run(new), make_run(base))
    drift, plain = drift_of(row), compare_with(None, make_run(new), make_run(base))
    changes = [new[case] - base[case] for case in base]  # type: ignore[operator]
    shifts = {case: control[case] - base[case] for case in control}  # type: ignore[operator]
    mean, shift = sum(changes) / 600, sum(shifts.values()) / 300
    assert (drift.state, drift.cases, drift.label) == (DriftState.CORRECTED, 300, "worse")
    assert (drift.delta, drift.shift) == (pytest.approx(mean), pytest.approx(shift))
    assert row.delta == pytest.approx(mean - shift)
    # Without the pseudo-pairs, the error is that of the cases' contributions.
    parts = [(change - mean) / 600 for change in changes]
    for case, each in shifts.items():
        parts[case] -= (each - shift) / 300
    error = sqrt(600 / 599 * sum(part**2 for part in parts) + 2 / (602 * 600) + 2 / (302 * 300))
    assert row.low is not None
    assert row.high is not None
    assert (row.high - row.low) / 2 == pytest.approx(1.968 * error, rel=1e-3)
    assert plain.detectable is not None
    assert row.detectable is not None
    assert row.detectable > plain.detectable == drift.detectable
    assert drift.power is not None
    assert drift.power < 0.8
    assert row.label is RowLabel.EXPLAINED
    assert drift_of(row).has_moved()


def test_a_control_of_all_cases_costs_no_power() -> None:
    row = compare_with(make_run(draw(0.9, 400, 3)), make_run(draw(0.9, 400, 2)), make_run(draw(0.9, 400, 1)))
    assert drift_of(row).power == pytest.approx(0.8, abs=0.06)


def test_rows_that_get_better_by_drift_are_drift_too() -> None:
    base, new, control = draw(0.6, 500, 1), draw(0.8, 500, 2), draw(0.8, 500, 3)
    row = compare_with(make_run(control), make_run(new), make_run(base))
    assert (row.label, drift_of(row).label) == (RowLabel.EXPLAINED, "better")


def test_drift_that_hides_a_regression_is_subtracted() -> None:
    same = draw(0.7, 500, 1)
    row = compare_with(make_run(draw(0.9, 500, 3)), make_run(same), make_run(same))
    assert (row.label, drift_of(row).label) == (RowLabel.WORSE, "unchanged")


def test_too_small_controls_correct_nothing() -> None:
    base, new = make_run(draw(0.9, 400, 1)), make_run(draw(0.7, 400, 2))
    plain = compare_with(None, new, base)
    for size in (1, 2, 12, 49):
        control = {case: score for case, score in draw(0.7, 400, 3).items() if case < size}
        row = compare_with(make_run(control), new, base)
        assert (drift_of(row).state, drift_of(row).cases) == (DriftState.TOO_SMALL, size)
        assert drift_of(row).needed > size
        assert replace(row, adjustment=None) == plain
    # The needed number grows with the variance.
    needed = []
    for rate in (0.98, 0.9, 0.5):
        row = compare_with(make_run(draw(rate, 100, 3)), new, make_run(draw(rate, 400, 1)))
        needed.append(drift_of(row).needed)
    assert needed == sorted(needed)
    assert 50 <= needed[0] < 100 < needed[-1]


def test_unusable_controls_correct_nothing() -> None:
    scores = draw(0.9, 400, 1)
    base, new = make_run(scores), make_run(draw(0.7, 400, 2))
    errors = {case: None if case < 100 else 1.0 for case in range(400)}
    for control, reason in (
        (make_run(errors), "100 of 400 control cases have an error"),
        (make_run(scores, model="other"), "the control has no comparable results of it"),
        (make_run(scores, name="other"), "the control has no comparable results of it"),
        (make_run({case + 1_000: 1.0 for case in range(100)}), "no case of the control has a score in all runs"),
    ):
        row = compare_with(control, new, base)
        drift = drift_of(row)
        assert (drift.state, drift.reason, row.label) == (DriftState.UNMEASURED, reason, RowLabel.WORSE)
    row = compare_with(make_run(scores, commit="another"), new, base)
    assert (row.adjustment, row.label) == (None, RowLabel.WORSE)


def test_shifts_of_many_evaluators_are_corrected_for_their_number() -> None:
    tables = [draw(0.8, 300, seed) for seed in range(12)]
    base, new = make_run(*tables), make_run(*(draw(0.8, 300, 100 + seed) for seed in range(12)))
    control = make_run(*(draw(0.8, 300, 200 + seed) for seed in range(12)))
    rows = compare_all(new.add_companion(TrialRole.CONTROL, control), base).rows
    assert not any(drift_of(row).has_moved() for row in rows)
    alone = [
        compare_with(make_run(draw(0.8, 300, 200 + index)), make_run(tables[index]), make_run(tables[index]))
        for index in range(12)
    ]
    together, separate = ([p for row in each if (p := drift_of(row).p) is not None] for each in (rows, alone))
    assert min(together) > min(separate)


def test_a_slice_is_corrected_by_its_own_control_cases() -> None:
    # The provider got worse in one language only; the other has too few control cases.
    cases = range(600)
    base = dict.fromkeys(cases, 1.0)
    moved: Table = {case: float(case % 7 != 0 or case >= 400) for case in cases}
    control = {case: score for case, score in moved.items() if case % 2 == 0 and (case < 400 or case > 580)}
    languages = {"fr": list(range(400)), "de": list(range(400, 600))}
    slices = [{"language": languages}]
    run = make_run(moved, commit="head")
    controlled = run.add_companion(TrialRole.CONTROL, make_run(control))
    found = compare_slices(controlled, make_run(base), slices)
    drift = drift_of(found["fr"])
    assert (found["fr"].label, drift.state, drift.cases, drift.label) == (
        RowLabel.EXPLAINED,
        DriftState.CORRECTED,
        200,
        "worse",
    )
    assert drift.shift == pytest.approx(-29 / 200)
    assert (drift_of(found["de"]).state, found["de"].label) == (DriftState.TOO_SMALL, RowLabel.UNCHANGED)
    # Without a control, the slice is worse.
    plain = compare_slices(run, make_run(base), slices)
    assert (plain["fr"].label, plain["fr"].adjustment) == (RowLabel.WORSE, None)


def test_a_change_without_any_variance_is_certain() -> None:
    drift = Drift(DriftState.CORRECTED)
    p = {delta: DriftEstimate(drift, delta=delta).one_sided_p for delta in (-0.1, 0.0, 0.1)}
    assert p == {-0.1: (0.0, 1.0), 0.0: (1.0, 1.0), 0.1: (1.0, 0.0)}
    lower, upper = DriftEstimate(drift, delta=-0.1, error=0.05, df=100).one_sided_p
    assert (lower < 0.03, upper) == (True, pytest.approx(1 - lower))
    assert DriftEstimate(drift, error=0.2, plain_error=0.1).widening == 2.0
    assert DriftEstimate(drift, error=0.2).widening == 1.0


def test_an_interval_stays_within_the_largest_possible_change() -> None:
    drift = Drift(DriftState.CORRECTED)
    assert DriftEstimate(drift, delta=0.9, error=0.2, df=50).interval[1] == 1.0
    assert DriftEstimate(drift, delta=-0.9, error=0.2, df=50).interval[0] == -1.0
    low, high = DriftEstimate(drift, delta=0.1, error=0.05, df=50).interval
    assert (low, high) == (pytest.approx(0.1 - 2.0086 * 0.05, abs=1e-4), pytest.approx(0.1 + 2.0086 * 0.05, abs=1e-4))
    assert DriftEstimate(drift).one_sided_p == (1.0, 1.0)


def test_a_control_leaves_the_movement_of_whole_runs_out() -> None:
    """A control says how far the provider moved since the base; movement of runs without it would count it again."""
    base, new = make_run(draw(0.9, 400, 1)), make_run(draw(0.9, 400, 2))
    controlled = new.add_companion(TrialRole.CONTROL, make_run(draw(0.9, 400, 3)))
    (with_control,) = compare_all(controlled, base, earlier=()).rows
    (alone,) = compare_all(new, base, earlier=()).rows
    assert (with_control.movement, alone.movement) == (None, None)
    assert with_control.adjustment is not None
