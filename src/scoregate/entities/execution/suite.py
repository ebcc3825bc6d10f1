"""From tests, a target and metrics to a suite that the engine runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from scoregate.core.parts import ErrorInfo, Origin
from scoregate.core.suite import Case, Limits, Scorer, Suite
from scoregate.core.target import Target
from scoregate.engine.environment import Selection, chosen
from scoregate.entities.execution.asked import Asked
from scoregate.entities.execution.cases import cases_of, describe
from scoregate.entities.execution.measures import Measures
from scoregate.entities.execution.scoring import scorers_for
from scoregate.entities.execution.subjects import Answer, beside, recorded
from scoregate.entities.execution.talks import Asking, Talks
from scoregate.enums import TestType

Ask: TypeAlias = Callable[[Asked], Awaitable[Answer]]


def suite_of(
    name: str,
    tests: Iterable[Asked],
    target: Target,
    measures: Measures,
    *,
    talks: Talks | None = None,
    limits: Limits | None = None,
    selection: Selection | None = None,
    origin: Origin | None = None,
    message: str | None = None,
) -> Suite:
    """The suite of the tests that are selected, asked of a target.

    Args:
        name: its id. target: what is asked. measures: what judges the answers.
        talks: how conversations are led. limits: tests at a time, and what else holds for suites.
        selection: the part that is to run; all by default.

    Raises:
        MetricError: something is no metric, or two have one name. ModelError: the name of a model names nothing.
    """
    talks = talks or Talks()
    suite = suite_by(
        Asking(target, measures, talks).ask,
        name,
        tests,
        measures=measures,
        talks=talks,
        limits=limits,
        selection=selection,
    )
    return replace(suite, origin=origin, message=message)


def suite_by(
    ask: Ask,
    name: str,
    tests: Iterable[Asked],
    *,
    measures: Measures,
    talks: Talks,
    limits: Limits | None = None,
    selection: Selection | None = None,
) -> Suite:
    """As `suite_of`, by whatever gives the answers."""
    selection, limits = selection or Selection(), limits or Limits()
    cases = list(cases_of(tests, selection.repeats or 1))
    kept = list(chosen(cases, name, selection))
    return Suite(
        name,
        kept,
        ask,
        describe,
        recorded,
        _scorers(kept, measures, talks, limits),
        trace_form=beside,
        limits=limits,
        problems=_problems(name, cases, kept),
    )


def _scorers(cases: Sequence[Case], measures: Measures, talks: Talks, limits: Limits) -> list[Scorer]:
    has_talks = any(case.value.turns is TestType.MULTI_TURN for case in cases)
    return scorers_for(
        measures,
        {case.value.behavior or "" for case in cases},
        talks=talks.version() if has_talks else None,
        max_concurrency=limits.max_case_concurrency,
    )


def _problems(name: str, cases: Sequence[Case], kept: Sequence[Case]) -> list[ErrorInfo]:
    if kept:
        return []
    said = "none of its tests has a hash that was asked for" if cases else "it has no tests"
    return [ErrorInfo("InvalidSuite", f"suite {name!r:.200}: {said}")]
