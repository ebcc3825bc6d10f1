"""Adds the usage of calls at the gateway to the events, the suites and the script that made them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from scoregate.features.gateway.proxy.sessions import CallOrigin, SuiteSession
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.events import CaseOutput, Errored, Event, Labelled, Scored
from scoregate.kernel.types.usage import sum_usage

SuiteKey: TypeAlias = tuple[str, str]
_OfCall: TypeAlias = CaseOutput | Scored | Labelled | Errored


class UsageAdder:
    """Adds the usage of the calls of a session to its events, and at the end to its suites.

    Calls arrive while events of earlier cases are still read, so only names assign a call: not the time at which it
    was made. A call names its suite by its id or by its event log.

    Args:
        session: the session of the launch.
    """

    def __init__(self, session: SuiteSession) -> None:
        self._session = session
        self._suites: dict[SuiteKey, None] = {}

    def add_usage(self, log: str, event: Event) -> Event:
        """The event with the usage of the calls that belong to it.

        Args:
            log: the event log that the event is from.
            event: the event.
        """
        self._suites[log, event.suite] = None
        if not isinstance(event, _OfCall) or event.case is None:
            return event
        counted = self._session.take_usage(*_find_origins(log, event))
        if counted is None and event.usage is None and isinstance(event, CaseOutput):
            counted = self._session.stored_answers(log, event.suite, "")
        if counted is None:
            return event
        own = (event.usage,) if event.usage is not None else ()
        return replace(event, usage=sum_usage((*own, counted)))

    def assign_rest(self) -> tuple[dict[SuiteKey, Usage], Usage | None]:
        """Assign the calls that belong to no event, when no event follows.

        Returns:
            The usage of each suite, by event log and id; and the usage of the calls that may be of any of several
            suites, or of none.
        """
        assigned: defaultdict[SuiteKey, list[Usage]] = defaultdict(list)
        unassigned = []
        for name, usage in self._session.take_rest().items():
            suites = [key for key in self._suites if name in ("", *key)]
            if len(suites) == 1:
                assigned[suites[0]].append(usage)
            else:
                unassigned.append(usage)
        sums = {key: sum_usage(usages) for key, usages in assigned.items()}
        return {key: total for key, total in sums.items() if total is not None}, sum_usage(unassigned)


def _find_origins(log: str, event: _OfCall) -> Iterator[CallOrigin]:
    """What calls of an event name: an evaluator with several scores makes a call for `name`, and scores `name.part`."""
    evaluators = [""]
    if not isinstance(event, CaseOutput) and event.evaluator:
        parts = event.evaluator.split(".")
        evaluators = [".".join(parts[:end]) for end in range(len(parts), 0, -1)][:_MOST_PARTS]
    for suite in dict.fromkeys((log, event.suite, "")):
        for evaluator in evaluators:
            yield CallOrigin(event.case or "", event.repeat, evaluator, suite)


_MOST_PARTS = 5
