"""What reports say about latency, tokens and cost, besides their tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from scoregate.errors import RecordError
from scoregate.kernel.compare.comparison_rows import Row
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.report.result_json import MEANS, TESTS, to_row_data
from scoregate.kernel.report.text import shorten_list
from scoregate.kernel.types.amounts import AtLeast, add
from scoregate.kernel.types.call_headers import SUITE
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.run import Run, sum_costs
from scoregate.kernel.types.slots import Place, Section, Slot


@record
class Interval:
    """An estimate with the bounds of its 90 % interval."""

    low: float = 0.0
    expected: float = 0.0
    high: float = 0.0

    def scale(self, factor: float) -> Interval:
        """The interval of a multiple."""
        return Interval(self.low * factor, self.expected * factor, self.high * factor)


def format_cost(cost: Interval) -> str:
    """A cost with its bounds: `$0.42 [0.31–0.60]`."""
    low, high = (number_format.cost(bound).replace("$", "") for bound in (cost.low, cost.high))
    return f"{number_format.cost(cost.expected)} [{low}–{high}]"


def sum_intervals(intervals: Iterable[Interval]) -> Interval:
    """The interval of a sum, whose parts vary independently: half widths add up as the root of their squares."""
    parts = tuple(intervals)
    expected = sum(part.expected for part in parts)
    below = sum((part.expected - part.low) ** 2 for part in parts) ** 0.5
    above = sum((part.high - part.expected) ** 2 for part in parts) ** 0.5
    return Interval(max(0.0, expected - below), expected, expected + above)


@record
class RunEstimate:
    """What a run was expected to use.

    Attributes:
        cost: US dollars; None if no price is known, or no suite has a base.
        calls: calls of models, without those that the cache answers.
        input_tokens: their input tokens.
        output_tokens: their output tokens.
        cached_tokens: the input tokens that the provider had cached.
        seconds: the duration of the run.
        unpriced: the models whose price is unknown; their calls are in no cost.
        unknown: the scripts and suites without an estimate.
        base: the name of the run that it is made from.
    """

    cost: Interval | None = None
    calls: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    cached_tokens: float = 0.0
    seconds: Interval | None = None
    unpriced: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    base: str = ""

    @property
    def has_cost(self) -> bool:
        """Whether a cost is expected, or calls whose answers cost nothing."""
        return self.cost is not None and (self.cost.high > 0 or self.calls > 0)


ESTIMATE: Slot[RunEstimate] = Slot("estimate", RunEstimate)
"""What the run was expected to use, also before it is recorded."""


_FIELDS = ("suite", "label", *MEANS, "detectable", *TESTS, "total", "total_low", "total_high")


def build_sections(judged: Judged) -> Iterator[Section]:
    """The section of a comparison."""
    comparison = judged.comparison
    estimate, damage = _read_estimate(comparison.run)
    data = {
        "quantities": [_to_data(row) for row in comparison.quantities],
        "estimate": None if estimate is None else asdict(estimate),
    }
    sentences = (*_describe_costs(comparison.run, estimate), *damage)
    yield Section("costs", Place.COSTS, sentences=sentences, data=data)


def _read_estimate(run: Run) -> tuple[RunEstimate | None, tuple[str, ...]]:
    """The estimate of a run, and what is wrong with the stored one."""
    try:
        return run.slots.get(ESTIMATE), ()
    except RecordError as error:
        return None, (f"The estimate isn't shown: {error.message}.",)


def _to_data(row: Row) -> dict[str, Any]:
    return {"measure": str(row.measure)} | to_row_data(row, _FIELDS)


def _describe_costs(run: Run, estimate: RunEstimate | None) -> Iterator[str]:
    """Missing prices, what the run was expected to cost, and the calls of scripts that are in no row of a suite."""
    total = add(suite.cost for suite in run.suites)
    if isinstance(total, AtLeast) and total.value:  # without any price there is no cost to correct
        models = shorten_list(total.missing.names)
        yield f"The price of {models} is unknown and in no cost. Add it to the setting `prices`."
    spent = sum_costs(run)
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
