"""What further trials took: nothing of it is in a run's own figures, which are of one trial of each."""

from __future__ import annotations

from collections.abc import Iterable

from scoregate.ci.report import numbers
from scoregate.core.record import Run


def extra_cost(runs: Iterable[Run | None]) -> str:
    """In words; nothing where no price is known, or nothing was paid."""
    costs = [suite.cost for run in runs if run is not None for suite in run.suites if suite.cost is not None]
    return f"cost {numbers.cost(sum(costs))} beyond the run's own figures" if sum(costs) else ""
