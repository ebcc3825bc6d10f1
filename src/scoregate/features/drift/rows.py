"""Rows of a comparison, corrected for the drift that a control of the base's cases measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from scoregate.features.drift.estimate import Drift, DriftEstimate, DriftState, estimate_drift
from scoregate.kernel.compare.case_names import rename_cases
from scoregate.kernel.compare.compared_suites import list_same_suites
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.estimates import Estimate, two_sided_p
from scoregate.kernel.compare.pairing import Side, case_clusters, score_side
from scoregate.kernel.compare.row_labels import RowSides
from scoregate.kernel.compare.statistics.significance import correct_by_direction
from scoregate.kernel.types.runs.evidence import Use
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.runs.score_rules import without_rare_unscaled


class DriftCorrection:
    """Corrects the rows of one comparison.

    Args:
        control: the run of the base's cases.
        criteria_of: returns the criteria of a suite.
    """

    def __init__(self, control: Run, criteria_of: Callable[[SuiteResult], Criteria]) -> None:
        self._control = without_rare_unscaled(control, criteria_of)
        self._suites: dict[str, _ControlledSuite] = {}

    def adjust(self, rows: Sequence[Row], sides: Sequence[RowSides | None], measured: Sequence[RowLabel]) -> list[Row]:
        """Subtract the drift from the changes of rows; see `AdjustRows`.

        The p of the shifts are corrected for the number of rows that the control measured.
        """
        estimates = [self._estimate(row, known) for row, known in zip(rows, sides, strict=True)]
        by_row = dict(_correct_shifts(estimates))
        return [
            row if index not in by_row else _correct_row(row, by_row[index], label=str(measured[index]))
            for index, row in enumerate(rows)
        ]

    def _estimate(self, row: Row, sides: RowSides | None) -> DriftEstimate | None:
        """The drift of a row that is compared; None for others, and for battles, which have no score of their own.

        The drift of the whole suite says nothing about a part of it: a provider may have moved in one language only.
        So a part without control cases has none.
        """
        if sides is None or row.label is not RowLabel.NOISE or not sides.suite.evidence.counts_all(Use.CONTROL):
            return None
        if sides.suite.evaluators[row.evaluator].battles:
            return None
        label = sides.suite.label
        if label not in self._suites:
            self._suites[label] = _ControlledSuite(sides, self._control)
        known = self._suites[label]
        control = known.read_scores(row.evaluator)
        if control is None:
            reason = "the control has no comparable results of it"
            return None if sides.is_part else DriftEstimate(Drift(DriftState.UNMEASURED, reason=reason))
        return estimate_drift(*sides.read(), control, known.clusters, max_dropped=sides.criteria.max_dropped)


class _ControlledSuite:
    """A suite of the control, whose scores are read once for all parts.

    Args:
        sides: a row of the suite.
        control: the run of the base's cases.
    """

    def __init__(self, sides: RowSides, control: Run) -> None:
        suite = next(list_same_suites(sides.baselines[0], [control]), None)
        self._suite = None if suite is None else rename_cases(sides.suite, suite)
        self.clusters = case_clusters(sides.suite.columns)
        self._scores: dict[str, Side] = {}

    def read_scores(self, evaluator: str) -> Side | None:
        """The scores of an evaluator; None without comparable results of it."""
        known = self._suite
        if known is None or evaluator not in known.evaluators or evaluator in known.columns.unscaled:
            return None
        if evaluator not in self._scores:
            self._scores[evaluator] = score_side([known.columns], evaluator)
        return self._scores[evaluator]


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
        return replace(row, adjustment=drift)
    before = row.estimate.detectable
    drift = replace(drift, label=label, delta=row.delta, detectable=before, power=estimate.power)
    lower, upper = estimate.one_sided_p
    low, high = estimate.interval
    corrected = Estimate(
        delta=estimate.delta,
        p=two_sided_p(lower, upper),
        p_lower=lower,
        p_upper=upper,
        low=low,
        high=high,
        detectable=None if before is None else before * estimate.widening,
        smallest_p=0.0,
        smallest_margin=max(-low, high),
    )
    return replace(row, estimate=corrected, adjustment=drift)
