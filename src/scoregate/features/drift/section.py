"""What reports say about the drift of providers."""

from __future__ import annotations

from collections.abc import Iterator

from scoregate.features.drift.estimate import Drift, DriftState
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.types.runs import number_format


def describe_drift(comparison: Comparison) -> Iterator[str]:
    """Which providers moved, and why changes were not corrected although there is a control."""
    for row in comparison.rows:
        drift = row.adjustment
        if not isinstance(drift, Drift) or (drift.state is DriftState.CORRECTED and not drift.has_moved()):
            continue
        if drift.has_moved():
            shift = "nothing" if drift.shift is None else number_format.difference(drift.shift)
            cases = number_format.count(drift.cases, "case")
            place = f"{row.suite}, {row.evaluator}"
            yield f"Provider drift of {place}: {shift} since the base's run ({cases} of it asked again)."
            continue
        if drift.state is DriftState.TOO_SMALL:
            why = f"control too small: {drift.cases:,} of {drift.needed:,} cases needed"
        else:
            why = f"the drift is not measured: {drift.reason}"
        yield f"{row.suite}, {row.evaluator}: {why}. Nothing is corrected."
