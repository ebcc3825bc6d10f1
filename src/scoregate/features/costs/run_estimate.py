"""The estimate of what a run costs, made before it starts."""

from __future__ import annotations

from collections.abc import Iterable

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format


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
