"""Rows of a comparison, corrected for the drift that a control of the base's cases measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from scoregate.core.comparison.comparison_rows import Row, RowLabel
from scoregate.core.comparison.pairing import case_clusters, score_side
from scoregate.core.comparison.row_labels import label_rows
from scoregate.core.records import record
from scoregate.core.runs.policy import Criteria
from scoregate.core.runs.run import SuiteResult
from scoregate.core.statistics.significance import correct_by_direction
from scoregate.features.drift.estimate import Drift, DriftEstimate, DriftState, estimate_drift

_CHANGES = (RowLabel.WORSE, RowLabel.BETTER)


@record
class ControlledSuite:
    """A suite with its base and its control.

    Args:
        suite: the suite of the run.
        baselines: the suite in the runs of the base, the newest first.
        control: the suite in the control, with the names of the run's cases; None if the control has none.
        criteria: the criteria of the suite.
    """

    suite: SuiteResult
    baselines: Sequence[SuiteResult]
    control: SuiteResult | None
    criteria: Criteria

    def find_control(self, evaluator: str) -> SuiteResult | None:
        """The control, if it has comparable results of an evaluator.

        Args:
            evaluator: the id of the evaluator.
        """
        known = self.control
        is_known = known is not None and evaluator in known.evaluators and evaluator not in known.columns.unscaled
        return known if is_known else None


def correct_drift(rows: Sequence[Row], suites: Mapping[str, ControlledSuite], criteria: Criteria) -> list[Row]:
    """Label the rows of suites with the change of the scores corrected for drift, see `label_corrected`.

    Args:
        rows: the rows of scores before they are labelled.
        suites: the suites with a control, by label; without any, nothing is corrected.
        criteria: the level and the smallest effects that count.
    """
    if not suites:
        return label_rows(rows, criteria)
    return label_corrected(rows, [_estimate(row, suites.get(row.suite)) for row in rows], criteria)


def label_corrected(rows: Sequence[Row], estimates: Sequence[DriftEstimate | None], criteria: Criteria) -> list[Row]:
    """Label rows with the change of the scores corrected for drift.

    A row that is worse or better without the correction, and not with it, gets the label `drift` if its control shows
    a significant shift in this direction.

    Args:
        rows: the rows before they are labelled.
        estimates: the drift of each row; None for rows that are not corrected.
        criteria: the level and the smallest effects that count.
    """
    plain = label_rows(rows, criteria)
    by_row = dict(_correct_shifts(estimates))
    corrected = [
        row if index not in by_row else _correct_row(row, by_row[index], label=str(plain[index].label))
        for index, row in enumerate(rows)
    ]
    labelled = label_rows(corrected, criteria)
    return [_choose_label(row, before.label, criteria.alpha) for row, before in zip(labelled, plain, strict=True)]


def _estimate(row: Row, known: ControlledSuite | None) -> DriftEstimate | None:
    """The drift of a row that is compared; None for others, and for battles, which have no score of their own."""
    if known is None or row.label is not RowLabel.NOISE or known.suite.evaluators[row.evaluator].battles:
        return None
    control = known.find_control(row.evaluator)
    if control is None:
        return DriftEstimate(Drift(DriftState.UNMEASURED, reason="the control has no comparable results of it"))
    return estimate_drift(
        score_side([known.suite.columns], row.evaluator),
        score_side([each.columns for each in known.baselines], row.evaluator),
        score_side([control.columns], row.evaluator),
        case_clusters(known.suite.columns),
        max_dropped=known.criteria.max_dropped,
    )


def _correct_shifts(estimates: Sequence[DriftEstimate | None]) -> Iterator[tuple[int, DriftEstimate]]:
    """The estimates by the index of their rows, with the p of shifts corrected for the number of measured rows."""
    known = {index: each for index, each in enumerate(estimates) if each is not None}
    measured = {index: each for index, each in known.items() if each.drift.state is DriftState.CORRECTED}
    corrected = correct_by_direction(
        [each.p_lower for each in measured.values()], [each.p_upper for each in measured.values()]
    )
    p_by_index = dict(zip(measured, corrected, strict=True))
    for index, each in known.items():
        yield index, replace(each, drift=replace(each.drift, p=p_by_index.get(index, each.drift.p)))


def _correct_row(row: Row, estimate: DriftEstimate, *, label: str) -> Row:
    drift = estimate.drift
    if drift.state is not DriftState.CORRECTED:
        return replace(row, drift=drift)
    before = row.detectable
    drift = replace(drift, label=label, delta=row.delta, detectable=before, power=estimate.power)
    lower, upper = estimate.one_sided_p
    low, high = estimate.interval
    return replace(
        row,
        delta=estimate.delta,
        low=low,
        high=high,
        p=min(1.0, 2 * min(lower, upper)),
        p_worse=lower if row.higher_is_better else upper,
        p_better=upper if row.higher_is_better else lower,
        smallest_p=0.0,
        detectable=None if before is None else before * estimate.widening,
        within=max(-low, high),
        drift=drift,
    )


def _choose_label(row: Row, before: RowLabel, alpha: float) -> Row:
    is_explained = before in _CHANGES and row.label is not before and row.label not in _CHANGES
    if not is_explained or not has_drifted(row, alpha) or row.drift is None or row.drift.delta is None:
        return row
    is_same_direction = (row.drift.shift or 0.0) * row.drift.delta > 0
    return replace(row, label=RowLabel.DRIFT) if is_same_direction else row


def has_drifted(row: Row, alpha: float = 0.05) -> bool:
    """Whether the control of a row shows a significant shift of the provider."""
    drift = row.drift
    return drift is not None and drift.state is DriftState.CORRECTED and drift.p is not None and drift.p <= alpha
