"""Which events of a launch get the usage of its calls at the gateway."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from scoregate.ci.gateway.sessions import CallOrigin, Sessions, SuiteSession
from scoregate.ci.launch import EventsReceived, LaunchEvent
from scoregate.ci.model_gateway import ModelGateway
from scoregate.core.evaluation import Usage
from scoregate.core.event_values import ErrorInfo
from scoregate.core.events import CaseOutput, Errored, Event, Scored, SuiteFinished, SuiteStarted


class OneSession:
    """A gateway that opens one session."""

    def __init__(self) -> None:
        self.session = Sessions().open("run")

    @contextmanager
    def open_session(self, suite: str, *, is_base: bool) -> Iterator[SuiteSession]:
        assert (suite, is_base) == ("run", False)
        yield self.session


def usages(gateway: OneSession, *steps: Event | tuple[CallOrigin, Usage]) -> list[Usage | None]:
    """The usage of each event, where calls arrive between them."""
    found: list[Usage | None] = []

    def collect(event: LaunchEvent) -> None:
        assert isinstance(event, EventsReceived)
        found.extend(getattr(each, "usage", None) for each in event.events)

    made: Any = gateway
    launch: Any = SimpleNamespace(name="run")
    with ModelGateway(made, frozenset(), frozenset(), frozenset()).open_session(launch, collect) as (_, emit):
        for step in steps:
            if isinstance(step, tuple):
                gateway.session.add_usage(*step)
            else:
                emit(EventsReceived("run", "log", [step]))
    return found


def called(case: str = "", evaluator: str = "", *, tokens: int = 10, **fields: Any) -> tuple[CallOrigin, Usage]:
    return CallOrigin(case, 0, evaluator), Usage(tokens, model="m", **fields)


def test_calls_belong_to_the_events_of_their_case_and_evaluator() -> None:
    output, score, end = usages(
        OneSession(),
        called("a"),
        called("a", "judge", tokens=3),
        called("b", tokens=5),
        CaseOutput(suite="s", case="a"),
        Scored(suite="s", case="a", evaluator="judge", score=1),
        SuiteFinished(suite="s"),
    )
    assert [each and each.input_tokens for each in (output, score, end)] == [10, 3, 5]


def test_a_suite_that_ends_leaves_the_calls_of_cases_to_the_suites_that_run() -> None:
    first = [SuiteStarted(suite="one"), SuiteStarted(suite="two"), called("b"), called(tokens=1)]
    *_, end, output, last = usages(
        OneSession(), *first, SuiteFinished(suite="one"), CaseOutput(suite="two", case="b"), SuiteFinished(suite="two")
    )
    assert [each and each.input_tokens for each in (end, output, last)] == [1, 10, None]


def test_usage_that_a_suite_reports_itself_stays() -> None:
    own = Usage(100, model="own")
    (output,) = usages(OneSession(), called("a"), CaseOutput(suite="s", case="a", usage=own))
    assert output is not None
    assert (output.input_tokens, output.model) == (110, "m, own")
    (output,) = usages(OneSession(), called(answer="x", cached=True), CaseOutput(suite="s", case="a", usage=own))
    assert output == own


def test_errors_get_the_usage_of_what_failed() -> None:
    error = ErrorInfo("E", "e")
    task, judge = usages(
        OneSession(),
        called("a"),
        called("a", "judge", tokens=3),
        Errored(suite="s", case="a", stage="task", error=error),
        Errored(suite="s", case="a", evaluator="judge", stage="evaluator", error=error),
    )
    assert [each and each.input_tokens for each in (task, judge)] == [10, 3]
