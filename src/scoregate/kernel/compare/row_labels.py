"""The labels of rows, after the correction for the number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from scoregate.kernel.compare.comparison_rows import Correction, Measure, Row, RowLabel, ScoredRow
from scoregate.kernel.compare.estimates import Estimate
from scoregate.kernel.compare.lost_scores import LostScores, correct_lost_scores
from scoregate.kernel.compare.statistics.significance import benjamini_hochberg
from scoregate.kernel.types.limit_checks import reaches
from scoregate.kernel.types.runs.policy import Criteria

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
        yield each.row.reject_lost(": the evaluator returned None") if is_too_many else each.row
