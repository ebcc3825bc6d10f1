"""Events reduce to the same suite in any interleaving of cases."""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import isnan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.kernel.builders import ERROR, HALF, ExampleSuite, scored

from scoregate.kernel.types.evaluation import Threshold, Usage
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.events import (
    CaseFinished,
    CaseOutput,
    CaseStarted,
    Errored,
    Event,
    Labelled,
    ReviewRequested,
    Scored,
    SuiteFinished,
    SuiteStarted,
)
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.reducer import RunReducer, SuiteReducer

EVALUATORS = ["a", "b", "c"]
outcome = st.none() | st.floats(0, 1) | st.just(ERROR)
usage = st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9), cost=st.none() | st.floats(0, 1))


@st.composite
def case_events(draw: st.DrawFn, name: str, repeat: int) -> list[Event]:
    """The events of one trial in order, possibly unfinished."""
    where: dict[str, Any] = {"suite": "s", "case": name, "repeat": repeat}
    events: list[Event] = [CaseStarted(**where, digest=name, tags=draw(st.sampled_from([(), ("critical",)])))]
    if draw(st.booleans()):
        events.append(Errored(**where, stage="task", error=ERROR))
    else:
        events.append(CaseOutput(**where, output=name, duration_ms=draw(st.floats(0, 99)), usage=draw(usage)))
        for evaluator in draw(st.permutations(EVALUATORS)):
            score = draw(outcome)
            if isinstance(score, ErrorInfo):
                events.append(Errored(**where, stage="evaluator", evaluator=evaluator, error=score))
            elif score is not None:
                events.append(Scored(**where, evaluator=evaluator, score=score, threshold=HALF, usage=draw(usage)))
    events.append(CaseFinished(**where, unscored=("d",)))
    return events[: draw(st.integers(1, len(events)))]


@st.composite
def suites(draw: st.DrawFn) -> list[list[Event]]:
    keys = draw(st.sets(st.tuples(st.sampled_from("xyz"), st.integers(0, 2)), max_size=6))
    return [draw(case_events(name, repeat)) for name, repeat in sorted(keys)]


def interleave(streams: list[list[Event]], seed: int) -> Iterator[Event]:
    """The interleaved events of all cases, each case in its own order."""
    chosen = random.Random(seed)
    waiting = [iter(stream) for stream in streams]
    while waiting:
        stream = chosen.choice(waiting)
        try:
            yield next(stream)
        except StopIteration:
            waiting.remove(stream)


def reduce_events(events: Iterator[Event]) -> tuple[SuiteReducer, list[CaseResult]]:
    fold = SuiteReducer(0, "s")
    cases = [case for event in events if (case := fold.apply(event)) is not None]
    return fold, [*cases, *fold.close()]


def list_rows(columns: Columns) -> list[Any]:
    """The values of the columns, row by row, in the order of the cases."""
    names = sorted(columns.scores)
    return sorted(
        (
            columns.key(row),
            str(columns.status(row)),
            columns.digests[row],
            repr(columns.durations_ms[row]),
            repr(columns.costs[row]),
            repr(columns.tokens[row]),
            columns.tags.get(row),
            [(name, repr(columns.score(name, row)), row in columns.errored.get(name, ())) for name in names],
            [(name, row in columns.failed.get(name, ())) for name in names],
        )
        for row in range(len(columns))
    )


@given(suites(), st.integers(0, 2**32), st.integers(0, 2**32))
def test_the_order_among_cases_does_not_matter(streams: list[list[Event]], one: int, other: int) -> None:
    first, first_cases = reduce_events(interleave(streams, one))
    second, second_cases = reduce_events(interleave(streams, other))
    assert list_rows(first.columns) == list_rows(second.columns)
    assert sorted(first_cases, key=lambda case: case.key) == sorted(second_cases, key=lambda case: case.key)
    assert (first.columns.unscored, first.columns.judged) == (second.columns.unscored, second.columns.judged)


@given(suites(), st.integers(0, 2**32))
def test_columns_equal_cases(streams: list[list[Event]], seed: int) -> None:
    fold, cases = reduce_events(interleave(streams, seed))
    assert len(fold.columns) == len(streams) == len(cases)
    for row, case in enumerate(cases):
        assert fold.columns.key(row) == case.key
        assert fold.columns.status(row) is case.status
        for name in EVALUATORS:
            score = fold.columns.score(name, row)
            assert (case.evaluations[name].score == score) if name in case.evaluations else isnan(score)
    for status in Status:
        assert fold.columns.count(status) == sum(case.status is status for case in cases)


def test_an_unfinished_case_has_an_error() -> None:
    fold, cases = reduce_events(iter([CaseStarted(suite="s", case="a"), CaseOutput(suite="s", case="a", output=1)]))
    assert [error.error.type for error in cases[0].errors] == ["Unfinished"]
    assert cases[0].output == 1
    assert fold.columns.status(0) is Status.ERRORED
    assert not fold.result("s").complete


def test_an_invalid_score_is_an_error_of_its_evaluator() -> None:
    """A program in another language can send any event."""
    events = [Scored(suite="s", case="a", evaluator="e", score=7.5), CaseFinished(suite="s", case="a")]
    fold, cases = reduce_events(iter([SuiteStarted(suite="s"), *events]))
    assert [(error.evaluator, error.error.type) for error in cases[0].errors] == [("e", "NoScale")]
    assert "its score 7.5 is outside [0, 1]" in cases[0].errors[0].error.message
    assert list(fold.result("s").evaluators) == ["e"]


def test_evaluations_that_wait_for_people_are_pending() -> None:
    events = [ReviewRequested(suite="s", case="a", name="look", evaluator="human"), CaseFinished(suite="s", case="a")]
    fold, cases = reduce_events(iter([*events, SuiteFinished(suite="s")]))
    assert cases[0].pending == ("human",)
    assert (fold.result("s").evaluations, fold.result("s").pending) == (0, 1)
    assert fold.result("s").passed


def test_suites_of_different_logs_are_kept_apart() -> None:
    fold = RunReducer()
    for log in ("one", "two"):
        for event in ExampleSuite(scored(1.0)).events():
            fold.apply(log, f"{log}.py", event)
    assert [(suite.id, suite.script, len(suite.columns)) for suite in fold.results()] == [
        ("demo", "one.py", 1),
        ("demo", "two.py", 1),
    ]
    assert [suite.label for suite in fold.results()] == ["demo (one.py)", "demo (two.py)"]


def test_an_evaluator_that_reports_twice_is_an_error_of_the_case() -> None:
    events: list[Event] = [
        Scored(suite="s", case="a", evaluator="e", score=0.0, threshold=Threshold(gte=1)),
        Scored(suite="s", case="a", evaluator="e", score=1.0, threshold=Threshold(gte=1)),
        Labelled(suite="s", case="a", evaluator="e", label="fine"),
        CaseFinished(suite="s", case="a"),
    ]
    _, (case,) = reduce_events(iter(events))
    assert case.evaluations["e"].score == 0.0
    assert case.labels == {}
    assert [(error.evaluator, error.error.type) for error in case.errors] == [("e", "EvaluatedTwice")] * 2
    assert case.status is Status.FAILED


def test_a_trial_that_is_reported_again_is_an_error_of_the_suite() -> None:
    one: list[Event] = [Scored(suite="s", case="a", evaluator="e", score=0.0), CaseFinished(suite="s", case="a")]
    two: list[Event] = [Scored(suite="s", case="a", evaluator="e", score=1.0), CaseFinished(suite="s", case="a")]
    fold, cases = reduce_events(iter([*one, *two, *two, SuiteFinished(suite="s")]))
    suite = fold.result("s")
    assert [case.evaluations["e"].score for case in cases] == [0.0]
    assert [error.message for error in suite.errors] == ["case 'a', repeat 0, was reported again after it had finished"]
    assert suite.complete


@pytest.mark.parametrize(("planned", "complete"), [(None, True), (2, True), (1, True), (3, False)])
def test_a_suite_with_fewer_cases_than_planned_is_incomplete(planned: int | None, *, complete: bool) -> None:
    done: list[Event] = [CaseFinished(suite="s", case=case) for case in "ab"]
    fold, _ = reduce_events(iter([SuiteStarted(suite="s", cases=planned), *done, SuiteFinished(suite="s")]))
    assert fold.result("s").complete is complete


def test_a_case_without_an_end_leaves_its_suite_incomplete() -> None:
    events: list[Event] = [CaseStarted(suite="s", case="a"), SuiteFinished(suite="s")]
    fold, cases = reduce_events(iter(events))
    assert [case.errors[0].error.type for case in cases] == ["Unfinished"]
    assert (fold.result("s").unfinished, fold.result("s").complete) == (1, False)


@pytest.mark.parametrize(("declared", "expected"), [(True, {"e": 1.0}), (False, {})])
def test_true_is_a_score_of_a_boolean_evaluator(expected: dict[str, float], *, declared: bool) -> None:
    evaluator = EvaluatorInfo("e", boolean=declared)
    events: list[Event] = [
        SuiteStarted(suite="s", evaluators=(evaluator,)),
        Scored(suite="s", case="a", evaluator="e", score=True),
        CaseFinished(suite="s", case="a"),
    ]
    _, (case,) = reduce_events(iter(events))
    assert {name: evaluation.score for name, evaluation in case.evaluations.items()} == expected
    assert bool(case.errors) is not declared
