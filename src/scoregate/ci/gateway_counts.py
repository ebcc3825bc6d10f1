"""What the gateway counts of the calls of suites: for the record of a run, and for the events of a launch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.core.evaluation import Usage
from scoregate.core.events import CaseOutput, Errored, Event, Labelled, Scored, SuiteFinished, SuiteStarted
from scoregate.core.model_calls import COUNTED, CallTotals, ModelCalls, sum_calls
from scoregate.core.records import record
from scoregate.core.usage import sum_usage

if TYPE_CHECKING:  # the gateway needs a web server, which most runs never start
    from scoregate.ci.gateway import Gateway
    from scoregate.ci.gateway.sessions import SuiteSession

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


class UsageAdder:
    """Adds the usage of the calls of a session to its events.

    The calls of no case belong to the end of the suite; of several suites that run at once, to the first that ends.

    Args:
        session: the session of the launch.
    """

    def __init__(self, session: SuiteSession) -> None:
        self._session = session
        self._open_suites = 0

    def add_usage(self, event: Event) -> Event:
        """The event with the usage of the calls that belong to it."""
        if not isinstance(event, CaseOutput | Scored | Labelled | Errored | SuiteFinished):
            self._open_suites += isinstance(event, SuiteStarted)
            return event
        counted = self._take_usage(event)
        if counted is None and event.usage is None and isinstance(event, CaseOutput):
            counted = self._session.stored_answers()
        if counted is None:
            return event
        own = (event.usage,) if event.usage is not None else ()
        return replace(event, usage=sum_usage((*own, counted)))

    def _take_usage(self, event: CaseOutput | Scored | Labelled | Errored | SuiteFinished) -> Usage | None:
        from scoregate.ci.gateway.sessions import CallOrigin

        if isinstance(event, SuiteFinished):
            self._open_suites = max(self._open_suites - 1, 0)
            # Calls of other cases belong to suites that still run.
            return self._session.take_unnamed() if self._open_suites else self._session.take_rest()
        if event.case is None:
            return None
        evaluator = "" if isinstance(event, CaseOutput) else event.evaluator or ""
        return self._session.take_usage(CallOrigin(event.case, event.repeat, evaluator))
