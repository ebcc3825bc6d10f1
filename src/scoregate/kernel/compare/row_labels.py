"""The labels of rows: features adjust rows first, then the labels follow from all rows of a family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from scoregate.kernel.compare.comparison_rows import Correction, Measure, Row, RowLabel, ScoredRow
from scoregate.kernel.compare.estimates import Estimate
from scoregate.kernel.compare.lost_scores import LostScores, correct_lost_scores
from scoregate.kernel.compare.pairing import Side
from scoregate.kernel.compare.statistics.significance import benjamini_hochberg
from scoregate.kernel.types.amounts import reaches
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import SuiteResult

COMPARED = (
    RowLabel.UNCHANGED,
    RowLabel.BETTER,
    RowLabel.WORSE,
    RowLabel.EQUIVALENT,
    RowLabel.NOISE,
    RowLabel.EXPLAINED,
)


def label_rows(rows: Sequence[Row], criteria: Criteria) -> list[Row]:
    """Correct the p-values of all rows of a kind and set the labels that depend on them.

    The correction counts only rows that could reach alpha, see `is_in_family`. Rows with an entry that accepts their
    regression count too, see `correct_with_accepted`.

    Args:
        rows: the rows of a comparison; a label other than `within noise` doesn't change.
        criteria: the level and the smallest effects that count.

    Source: Tarone (1990), Biometrics 46:515; Benjamini and Hochberg (1995), Journal of the Royal Statistical Society
    B 57:289.
    """
    known = [index for index, row in enumerate(rows) if is_in_family(row, criteria.alpha)]
    accepted = [rows[index].accepted is not None for index in known]
    worse = correct_with_accepted([rows[index].p_worse for index in known], accepted)
    better = benjamini_hochberg([rows[index].p_better for index in known])
    corrected = [min(1.0, 2 * min(each)) for each in zip(worse, better, strict=True)]
    q_by_index = dict(zip(known, corrected, strict=True))
    return [
        label_row(replace(row, correction=Correction(q_by_index.get(index))), criteria)
        for index, row in enumerate(rows)
    ]


def correct_with_accepted(ps: Sequence[float], accepted: Sequence[bool]) -> list[float]:
    """Correct p-values for the number of tests, so that an entry that accepts a drop changes no other row's verdict.

    Accepted rows stay in the count, but their p counts as 1 for all others. If they left the count, an entry would make
    the gate stricter for the rest. If they stayed with their p, real accepted drops would make it easier to call other
    rows worse.

    Args:
        ps: one-sided p-values.
        accepted: for each of them, whether an entry accepts a drop of its row.

    Returns:
        The corrected p-values, in the same order. An accepted row's own is that of the whole family.
    """
    for_others = benjamini_hochberg([1.0 if is_accepted else p for p, is_accepted in zip(ps, accepted, strict=True)])
    if not any(accepted):
        return for_others
    own = benjamini_hochberg(ps)
    return [mine if is_accepted else other for mine, other, is_accepted in zip(own, for_others, accepted, strict=True)]


def is_falling(row: Row) -> bool:
    """Whether a row is more likely to have got worse than better."""
    return row.p_worse < row.p_better


def is_in_family(row: Row, alpha: float) -> bool:
    """Whether a row was compared, and its p-value could be at most alpha."""
    return row.label in COMPARED and isinstance(row.estimate, Estimate) and row.estimate.smallest_p <= alpha


def label_row(row: Row, criteria: Criteria) -> Row:
    """Set the label of a row that was compared, by its corrected p.

    Args:
        row: the row; a label other than `within noise` doesn't change.
        criteria: the level and the smallest effects that count.
    """
    if row.label is not RowLabel.NOISE:
        return row
    own = criteria.evaluator_criteria(row.evaluator) if row.measure is Measure.SCORE else criteria.ratio_criteria
    if not row.pairs.better and not row.pairs.worse and not row.gain:  # an adjustment changes the gain
        return replace(row, label=RowLabel.UNCHANGED)
    falls, q = is_falling(row), row.correction.q
    effect, smallest = -row.gain if falls else row.gain, own.min_effect or 0.0
    is_significant = q is not None and q <= criteria.alpha and effect > 0
    if is_significant and reaches(effect, smallest):
        return replace(row, label=RowLabel.WORSE if falls else RowLabel.BETTER)
    if isinstance(row.estimate, Estimate) and row.estimate.smallest_margin <= (own.margin or 0.0):
        return replace(row, label=RowLabel.EQUIVALENT)
    return replace(row, correction=Correction(q, smallest)) if is_significant else row


def mark_lost_scores(rows: Iterable[ScoredRow], alpha: float) -> Iterator[Row]:
    """Mark the rows that lost too many scores as unmeasurable.

    Args:
        rows: all rows of a comparison.
        alpha: the two-sided significance level, in (0, 1).
    """
    known = list(rows)
    losses = correct_lost_scores([LostScores() if each.max_lost is None else each.row.lost for each in known])
    for each, lost in zip(known, losses, strict=True):
        is_too_many = each.max_lost is not None and lost.is_too_many(each.max_lost, alpha / 2)
        yield each.row.reject_lost(": the scorer returned None") if is_too_many else each.row


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
