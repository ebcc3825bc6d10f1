"""A change that is significant, and too small to count."""

from __future__ import annotations

from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.estimates import Estimate, PairSummary
from scoregate.kernel.compare.row_labels import label_rows
from scoregate.kernel.report.rows import build_row
from scoregate.kernel.types.runs.policy import Criteria

DROP = Row(
    *("shop", "polite", RowLabel.NOISE),
    estimate=Estimate(-0.008, 0.00001, 0.000005, 1.0, -0.011, -0.005, 0.004, smallest_p=0.000001, smallest_margin=0.03),
    pairs=PairSummary(5_000, 5_000, worse=40),
)


def test_the_row_names_the_setting_and_not_chance() -> None:
    [row] = label_rows([DROP], Criteria())
    assert row.label is RowLabel.NOISE
    assert build_row(row, None, ()).note == "corrected p < 0.0001, smaller than min_effect = 0.010"


def test_a_smaller_setting_makes_it_worse() -> None:
    [row] = label_rows([DROP], Criteria(min_effect=0.005))
    assert (row.label, row.correction.min_effect) == (RowLabel.WORSE, None)
