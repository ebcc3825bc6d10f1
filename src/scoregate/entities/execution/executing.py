"""Tests against an endpoint, here and now: from what is asked for to what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scoregate.core.case import CaseResult
from scoregate.core.suite import Suite
from scoregate.endpoints import open_target
from scoregate.engine.environment import message, selection
from scoregate.engine.origin import caller
from scoregate.engine.results import result_of
from scoregate.entities.execution.asked import Asked
from scoregate.entities.execution.choosing import measures_of
from scoregate.entities.execution.measures import Measures
from scoregate.entities.execution.running import run_tests
from scoregate.entities.execution.suite import Ask, suite_by
from scoregate.entities.execution.talks import Asking
from scoregate.entities.execution.terms import Terms
from scoregate.store import Store, StoredEndpoint


@dataclass(frozen=True)
class Course:
    """A run of tests that can begin: `metrics` are all that it has, by their names."""

    suite: Suite
    metrics: Mapping[str, Any]

    def run(self, title: str | None) -> Iterator[tuple[Asked, CaseResult]]:
        """Run it to its end; what came of each test is then read as it is taken. `title` titles the run."""
        suite = replace(self.suite, origin=caller(), message=message() or title)
        log = run_tests(suite)
        tests = {case.hash: case.value for case in suite.cases}
        return ((tests[case.hash], case) for case in result_of(log).cases)


def course_on(endpoint: StoredEndpoint, name: str, tests: Sequence[Asked], terms: Terms, *, store: Store) -> Course:
    """Tests that an endpoint is asked.

    Raises:
        EndpointError: the endpoint cannot be called as it is defined. MetricError: a metric is none, or is not there.
        ModelError: the name of a model names nothing.
    """
    target = open_target(endpoint)
    return course_by(
        lambda measures: Asking(target, measures, terms.talks()).ask,
        name,
        tests,
        terms=terms,
        most=endpoint.max_concurrency,
        store=store,
    )


def course_by(
    asking: Callable[[Measures], Ask], name: str, tests: Sequence[Asked], *, terms: Terms, most: int, store: Store
) -> Course:
    """As `course_on`, by whatever gives the answers; `most` is how many tests run at a time if nobody says."""
    behaviors = {test.behavior or "" for test in tests}
    measures = measures_of(behaviors, terms.metrics, store=store, model=terms.evaluation_model)
    suite = suite_by(
        asking(measures),
        name,
        tests,
        measures=measures,
        talks=terms.talks(),
        limits=terms.limits(most),
        selection=selection(),
    )
    names = (scorer.info.id for scorer in suite.scorers)
    kept = {case.value.behavior or "" for case in suite.cases}
    return Course(suite, dict(zip(names, measures.every(kept), strict=True)))
