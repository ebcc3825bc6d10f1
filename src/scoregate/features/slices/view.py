"""The rows of slices, worst first."""

from __future__ import annotations

from scoregate.features.slices.cases import slice_name
from scoregate.features.slices.keys import SliceTable
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.gate import Verdict
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.rows import ReportState, RowView, build_row, findings_by_suite, row_order
from scoregate.kernel.report.text import display_name
from scoregate.kernel.types.records import record

_MAX_NAME = 60
_MEANS = ("mean", "base", "delta", "low", "high")
_TESTS = ("n", "better", "worse", "p", "q", "smallest_p", "clusters", "dropped", "reason")
_BAD = (ReportState.FAILED, ReportState.WORSE)


@record
class SliceView:
    """One evaluator in one slice of a suite: its numbers in `view`, and the number of the run's `cases` in the slice.

    `compared` is whether the slice has enough pairs for an interval. `limited` is whether a limit names the slice.
    """

    field: str
    value: str
    cases: int
    view: RowView
    compared: bool
    limited: bool

    @property
    def name(self) -> str:
        """The name of the slice, such as `language=fr`, on one line."""
        return display_name(slice_name(self.field, self.value), _MAX_NAME)

    @property
    def is_bad(self) -> bool:
        """Whether it is worse, or fails a gate."""
        return self.view.state in _BAD or bool(self.view.missed)


def build_slices(table: SliceTable, comparison: Comparison, verdict: Verdict) -> tuple[SliceView, ...]:
    """Build the rows of all slices: failed gates first, then worse ones, then by the drop; small slices come last."""
    of_suites = findings_by_suite(verdict)
    by_place: dict[tuple[str | None, str | None, str], list[Finding]] = {}
    for suite, findings in of_suites.items():
        for finding in findings:
            if finding.part is not None:
                by_place.setdefault((suite, finding.evaluator, finding.part), []).append(finding)
    views = []
    for each in table.rows:
        row = each.row
        findings = by_place.get((row.suite, row.evaluator, each.name), [])
        view = build_row(row, None, findings, is_partial=bool(comparison.run.scope.selection))
        compared = row.low is not None and row.label is not RowLabel.UNMEASURABLE
        views.append(SliceView(each.field, each.value, each.cases, view, compared, each.limited))
    return tuple(sorted(views, key=_slice_order))


def _slice_order(each: SliceView) -> tuple[bool, bool, tuple[int, float, str, str], int, str, str]:
    """Bad ones first, then the slices that were compared, each by their rows."""
    return not each.is_bad, not each.compared, row_order(each.view), -each.cases, each.field, each.value
