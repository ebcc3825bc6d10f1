"""What reports say about the drift of providers."""

from __future__ import annotations

from collections.abc import Iterator

from scoregate.ci.report import number_format
from scoregate.core.comparison.comparison import Comparison
from scoregate.features.drift.estimate import DriftState
from scoregate.features.drift.rows import has_drifted


def describe_drift(comparison: Comparison) -> Iterator[str]:
    """Which providers moved, and why changes were not corrected although there is a control."""
    for row in comparison.rows:
        if row.drift is None or (row.drift.state is DriftState.CORRECTED and not has_drifted(row)):
            continue
        if has_drifted(row):
            shift = "nothing" if row.drift.shift is None else number_format.difference(row.drift.shift)
            cases = number_format.count(row.drift.cases, "case")
            place = f"{row.suite}, {row.evaluator}"
            yield f"Provider drift of {place}: {shift} since the base's run ({cases} of it asked again)."
            continue
        if row.drift.state is DriftState.TOO_SMALL:
            why = f"control too small: {row.drift.cases:,} of {row.drift.needed:,} cases needed"
        else:
            why = f"the drift is not measured: {row.drift.reason}"
        yield f"{row.suite}, {row.evaluator}: {why}. Nothing is corrected."
    states = [each.row.drift.state for each in comparison.slices.rows if each.row.drift is not None]
    if small := sum(state is not DriftState.CORRECTED for state in states):
        yield f"Slices: {small:,} of {len(states):,} rows have too few control cases and are not corrected for drift."
