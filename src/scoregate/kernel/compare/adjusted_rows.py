"""Rows that features adjust before they are labelled: labels depend on all rows of a family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.pairing import Side
from scoregate.kernel.compare.row_labels import label_rows
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import SuiteResult

_CHANGES = (RowLabel.WORSE, RowLabel.BETTER)


@record
class RowSides:
    """What a row compares.

    Attributes:
        suite: the suite of the run.
        baselines: the suite in the runs of the baseline, the newest first.
        criteria: the criteria of the suite.
        read: reads the scores of the run and of the baseline.
        is_part: whether they are those of a part of the suite.
    """

    suite: SuiteResult
    baselines: Sequence[SuiteResult]
    criteria: Criteria
    read: Callable[[], tuple[Side, Side]]
    is_part: bool = False


AdjustRows: TypeAlias = Callable[[Sequence[Row], Sequence[RowSides | None], Sequence[RowLabel]], list[Row]]
"""Adjusts the rows of a family: the rows, their sides (None without a baseline), and the labels that they have as they
were measured. A row that it adjusts has an `adjustment`."""


def label_adjusted(
    rows: Sequence[Row], sides: Sequence[RowSides | None], criteria: Criteria, adjusters: Sequence[AdjustRows]
) -> list[Row]:
    """Adjust the rows of a family, and label them.

    A row that is worse or better as it was measured, and not when it is adjusted, gets the label `explained` if its
    adjustment explains the change.

    Args:
        rows: the rows before they are labelled.
        sides: what each of them compares.
        criteria: the level and the smallest effects that count.
        adjusters: adjust rows, one after the other.
    """
    plain = label_rows(rows, criteria)
    if not adjusters:
        return plain
    measured = [row.label for row in plain]
    for adjust in adjusters:
        rows = adjust(rows, sides, measured)
    labelled = label_rows(rows, criteria)
    return [_explain_change(row, label, criteria.alpha) for row, label in zip(labelled, measured, strict=True)]


def _explain_change(row: Row, measured: RowLabel, alpha: float) -> Row:
    is_gone = measured in _CHANGES and row.label is not measured and row.label not in _CHANGES
    is_explained = is_gone and row.adjustment is not None and row.adjustment.explains(alpha)
    return replace(row, label=RowLabel.EXPLAINED) if is_explained else row
