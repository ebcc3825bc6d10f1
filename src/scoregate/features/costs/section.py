"""What reports say about latency, tokens and cost, besides their tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from scoregate.features.costs.keys import ESTIMATE
from scoregate.features.costs.run_estimate import format_cost
from scoregate.kernel.compare.comparison_rows import Row
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.report.text import shorten_list
from scoregate.kernel.types.amounts import AtLeast, add
from scoregate.kernel.types.call_headers import SUITE
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.run_costs import sum_costs
from scoregate.kernel.types.sections import Place, Section

_MEANS = ("mean", "base", "delta", "low", "high")
_TESTS = ("n", "better", "worse", "p", "q", "smallest_p", "clusters", "dropped", "reason")
_FIELDS = ("suite", "label", *_MEANS, "detectable", *_TESTS, "total", "total_low", "total_high")


def build_sections(judged: Judged) -> Iterator[Section]:
    """The section of a comparison."""
    comparison = judged.comparison
    estimate = comparison.run.slots.get(ESTIMATE)
    data = {
        "quantities": [_to_data(row) for row in comparison.quantities],
        "estimate": None if estimate is None else asdict(estimate),
    }
    yield Section("costs", Place.COSTS, sentences=tuple(_describe_costs(comparison.run)), data=data)


def _to_data(row: Row) -> dict[str, Any]:
    return {"measure": str(row.measure)} | {name: getattr(row, name) for name in _FIELDS}


def _describe_costs(run: Run) -> Iterator[str]:
    """Missing prices, what the run was expected to cost, and the calls of scripts that are in no row of a suite."""
    total = add(suite.cost for suite in run.suites)
    if isinstance(total, AtLeast) and total.value:  # without any price there is no cost to correct
        models = shorten_list(total.missing.names)
        yield f"The price of {models} is unknown and in no cost. Add it to the setting `prices`."
    spent = sum_costs(run)
    estimate = run.slots.get(ESTIMATE)
    if estimate is not None and estimate.cost is not None and (estimate.has_cost or spent):
        actual = "" if spent is None else f", actual {number_format.cost(spent)}"
        yield f"Cost: estimate {format_cost(estimate.cost)}{actual}."
    for script in run.scripts:
        if script.usage is not None:
            calls = number_format.count(script.usage.calls, "call")
            cost = "" if script.usage.cost is None else f" ({number_format.cost(script.usage.cost)})"
            is_shared = any(suite.script == script.name for suite in run.suites)
            why = f"Without the header {SUITE} they may be of any of its suites." if is_shared else "It ran no suite."
            yield f"Of no suite: {calls} of models{cost} by {script.name}. {why}"
