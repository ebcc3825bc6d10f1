"""Which cases a comparison counts: none in quarantine for most gates, and some of them for changes of scores."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.quarantine import Sides, leave_out_quarantine
from scoregate.kernel.judge.judgement import Baseline, CompareRuns
from scoregate.kernel.types.exemptions import Exemptions
from scoregate.kernel.types.runs.run import Run


def compare_without_quarantine(entries: Exemptions, compare: CompareRuns, run: Run, baseline: Baseline) -> Comparison:
    """Compare a run with a baseline, without the cases in quarantine.

    The comparison of scores, costs and latencies keeps those whose entry may be younger than the baseline.
    """
    leave_out = partial(leave_out_quarantine, run, baseline.run, baseline.pool, entries, earlier=baseline.earlier)

    def compare_remaining(sides: Sides) -> Comparison:
        return compare(sides.run, replace(baseline, run=sides.base, pool=sides.pool, earlier=sides.earlier))

    sides = leave_out()
    comparison = replace(compare_remaining(sides), quarantined=sides.cases)
    kept = [case for case in sides.cases if case.is_compared]
    if not kept:
        return comparison
    with_kept = compare_remaining(leave_out(kept=kept))
    return replace(
        comparison,
        rows=with_kept.rows,
        quantities=with_kept.quantities,
        slots=with_kept.slots,
        pooled=with_kept.pooled,
        earlier_runs=with_kept.earlier_runs,
    )
