"""More trials of some cases, chosen by the results of the first ones: each trial counts once."""

from __future__ import annotations

import pytest
from tests.unit.stats.builders import Scores, run_of, suite_of

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Row
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run

SURE, OPEN = [f"sure-{index}" for index in range(4)], [f"open-{index}" for index in range(8)]
STEADY = [f"steady-{index}" for index in range(8)]


def make_run(scores: Scores, extra: Scores | None = None) -> Run:
    run = run_of(suite_of({"score": scores}))
    return run if extra is None else run.add_companion(TrialRole.EXTRA, run_of(suite_of({"score": extra})))


def compare_row(new: Run, base: Run) -> Row:
    (row,) = compare(new, base).rows
    return row


def fill(**values: float) -> Scores:
    """The score of each kind of case."""
    kinds = {"sure": SURE, "open": OPEN, "steady": STEADY}
    return {case: [value] for kind, value in values.items() for case in kinds[kind]}


def test_first_trials_count_once() -> None:
    """Four cases are worse; eight were worse in their first trial and are better in their second one."""
    new = make_run(fill(sure=0.0, open=0.0, steady=1.0), fill(open=1.0))
    base = make_run(fill(sure=1.0, open=1.0, steady=1.0), fill(open=0.0))
    row = compare_row(new, base)
    assert row.estimate.p == pytest.approx(2**-4)
    assert row.delta == pytest.approx(-12 / 20), "the estimate is of the first trials"
    assert compare_row(base, new).estimate.p == pytest.approx(2**-4)


def test_trials_of_one_side_do_not_count() -> None:
    new, base = fill(sure=0.0, open=0.0, steady=1.0), fill(sure=1.0, open=1.0, steady=1.0)
    first = compare_row(make_run(new), make_run(base))
    assert first.estimate.p == pytest.approx(2**-12)
    for more, base_more in ((fill(open=1.0), None), (None, fill(open=0.0))):
        assert compare_row(make_run(new, more), make_run(base, base_more)).estimate.p == first.estimate.p


def test_an_extra_run_of_another_suite_does_not_count() -> None:
    new, base = (make_run(fill(sure=value, open=value, steady=1.0)) for value in (0.0, 1.0))
    other = run_of(suite_of({"score": fill(open=1.0)}, id="other", label="other"))
    row = compare_row(*(side.add_companion(TrialRole.EXTRA, other) for side in (new, base)))
    assert row.estimate.p == compare_row(new, base).estimate.p
