"""What the gateway counts of the calls of suites, for the record of a run."""

from __future__ import annotations

from scoregate.features.gateway.proxy import Gateway
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.model_calls import COUNTED, CallTotals, ModelCalls, sum_calls

# Models and evaluators are named by suites: far above real runs, and few enough to write and read.
_MOST_ROWS = 2_000
_OTHERS = "(others)"


@record
class CallCounter:
    """Counts the calls of the sessions that are opened after it was made.

    Attributes:
        gateway: the gateway.
        first: the number of sessions that were opened before.
    """

    gateway: Gateway
    first: int = 0

    def sum_calls(self) -> CallTotals:
        """The sums of all calls so far. It takes less than a millisecond for 1,000 models."""
        return self.gateway.sum_calls(self.first)

    def list_calls(self) -> tuple[ModelCalls, ...]:
        """The counts so far by suite, evaluator and model; with more than 2,000 of these, the rest is one row."""
        rows = tuple(
            ModelCalls(
                *group,
                **{name: getattr(counts, name) for name in COUNTED if name != "waited_s"},
                waited_s=round(counts.waited_s, 3),
                p50_ms=counts.quantile_ms(0.5),
                p95_ms=counts.quantile_ms(0.95),
            )
            for group, counts in self.gateway.counts(self.first).items()
        )
        if len(rows) <= _MOST_ROWS:
            return rows
        rest = sum_calls(rows[_MOST_ROWS:])
        others = ModelCalls(_OTHERS, "", _OTHERS, _OTHERS, **{name: getattr(rest, name) for name in COUNTED})
        return (*rows[:_MOST_ROWS], others)
