"""More trials of some cases of a suite, chosen by the results of the first ones."""

from __future__ import annotations

from collections.abc import Sequence

from scoregate.kernel.compare.pairing import Pairs, pair_scores
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.run import SuiteResult


@record
class ExtraTrials:
    """More trials of some cases of a suite, the same number in the run and in the baseline."""

    new: Sequence[SuiteResult]
    baseline: Sequence[SuiteResult]

    def pair_with_first(self, columns: Columns, baseline_suites: Sequence[SuiteResult], name: str) -> Pairs:
        """Pair the scores of an evaluator over the first and the extra trials.

        Args:
            columns: the first trials of the run.
            baseline_suites: the first trials of the baseline, the newest run first.
            name: the id of the evaluator.
        """
        return pair_scores(
            columns,
            [each.columns for each in (*baseline_suites, *self.baseline)],
            name,
            more=[each.columns for each in self.new],
        )
