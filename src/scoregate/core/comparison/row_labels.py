"""The labels of rows, after the correction for the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scoregate.core.comparison.comparison_rows import Measure, Row, RowLabel
from scoregate.core.limit_checks import reaches
from scoregate.core.runs.policy import Criteria
from scoregate.core.statistics.significance import correct_by_direction

_COMPARED = (RowLabel.UNCHANGED, RowLabel.BETTER, RowLabel.WORSE, RowLabel.EQUIVALENT, RowLabel.NOISE)


def label_rows(rows: Sequence[Row], criteria: Criteria) -> list[Row]:
    """Correct the p-values of all rows of a kind and set the labels that depend on them.

    The correction counts only rows that could reach alpha, see `is_in_family`. A row with an entry that accepts its
    regression is a family of its own, whatever its result: an accepted drop must not weaken the gate for others.

    Args:
        rows: the rows of a comparison; a label other than `within noise` doesn't change.
        criteria: the level and the smallest effects that count.

    Source: Tarone (1990), Biometrics 46:515; Benjamini and Hochberg (1995), Journal of the Royal Statistical Society
    B 57:289.
    """
    known = [index for index, row in enumerate(rows) if is_in_family(row, criteria.alpha)]
    accepted = [index for index in known if rows[index].accepted is not None]
    q_by_index: dict[int, float] = {}
    for family in ([index for index in known if rows[index].accepted is None], *([index] for index in accepted)):
        corrected = correct_by_direction(
            [_p_or_one(rows[index].p_worse) for index in family], [_p_or_one(rows[index].p_better) for index in family]
        )
        q_by_index |= zip(family, corrected, strict=True)
    return [
        _label_row(replace(row, q=q_by_index.get(index), min_effect=None), criteria) for index, row in enumerate(rows)
    ]


def _p_or_one(p: float | None) -> float:
    return 1.0 if p is None else p


def is_in_family(row: Row, alpha: float) -> bool:
    """Whether a row was compared, and its p-value could be at most alpha."""
    return row.label in _COMPARED and row.smallest_p is not None and row.smallest_p <= alpha


def _label_row(row: Row, criteria: Criteria) -> Row:
    if row.label is not RowLabel.NOISE:
        return row
    own = criteria.evaluator_criteria(row.evaluator) if row.measure is Measure.SCORE else criteria.ratio_criteria
    if not row.better and not row.worse and not row.gain:  # a correction for drift changes the gain
        return replace(row, label=RowLabel.UNCHANGED)
    falls = _p_or_one(row.p_worse) < _p_or_one(row.p_better)
    effect, smallest = -row.gain if falls else row.gain, own.min_effect or 0.0
    is_significant = row.q is not None and row.q <= criteria.alpha and effect > 0
    if is_significant and reaches(effect, smallest):
        return replace(row, label=RowLabel.WORSE if falls else RowLabel.BETTER)
    if row.within is not None and row.within <= (own.margin or 0.0):
        return replace(row, label=RowLabel.EQUIVALENT)
    return replace(row, min_effect=smallest) if is_significant else row
