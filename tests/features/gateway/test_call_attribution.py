"""Which events of a launch get the usage of its calls at the gateway."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

from scoregate.features.gateway.counts import CallCounter
from scoregate.features.gateway.layer import GatewayLayer
from scoregate.features.gateway.model_gateway import GatewaySetup, ModelGateway
from scoregate.features.gateway.proxy.sessions import CallOrigin, Sessions, SuiteSession
from scoregate.kernel.run.launch import EventsReceived, Finished, LaunchEvent, UsageCounted
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import CaseOutput, Errored, Event, Scored, SuiteFinished, SuiteStarted
from scoregate.kernel.types.runs.run import Script


class OneSession:
    """A gateway that opens one session."""

    def __init__(self) -> None:
        self.session = Sessions().open("run")

    @contextmanager
    def open_session(self, suite: str, *, is_base: bool) -> Iterator[SuiteSession]:
        assert (suite, is_base) == ("run", False)
        yield self.session


def usages(gateway: OneSession, *steps: Event | tuple[CallOrigin, Usage]) -> list[Usage | None]:
    """The usage of each event if calls arrive between events."""
    return list(count_usage(gateway, *steps).events)


@dataclass
class CountedUsage:
    """The usage of each event, and at the end that of suites and of the script."""

    events: list[Usage | None] = field(default_factory=list)
    suites: dict[tuple[str, str], Usage] = field(default_factory=dict)
    script: Usage | None = None


def count_usage(gateway: OneSession, *steps: Event | tuple[CallOrigin, Usage]) -> CountedUsage:
    """The counted usage of a launch if calls arrive between events."""
    counted = CountedUsage()

    def collect(event: LaunchEvent) -> None:
        if isinstance(event, EventsReceived):
            counted.events.extend(getattr(each, "usage", None) for each in event.events)
        elif isinstance(event, UsageCounted):
            counted.suites[event.log, event.suite] = event.usage
        else:
            assert isinstance(event, Finished)
            counted.script = event.script.usage

    session: Any = gateway
    launch: Any = SimpleNamespace(name="run")
    setup = GatewaySetup(Mock(providers={}), frozenset(), frozenset())
    layer = GatewayLayer(ModelGateway(session, setup), CallCounter(session), is_base=False)
    with layer.open_session(launch, collect) as (_, emit):
        for step in steps:
            if isinstance(step, tuple):
                gateway.session.add_usage(*step)
            else:
                emit(EventsReceived("run", f"{step.suite}.jsonl", [step]))
        emit(Finished(Script("run", exit_code=0)))
    return counted


def called(
    case: str = "", evaluator: str = "", *, suite: str = "", tokens: int = 10, **fields: Any
) -> tuple[CallOrigin, Usage]:
    return CallOrigin(case, 0, evaluator, suite), Usage(tokens, model="m", **fields)


def tokens_of(usage: Usage | None) -> int | None:
    return None if usage is None else usage.input_tokens


def test_calls_belong_to_the_events_of_their_case_and_evaluator() -> None:
    usage = count_usage(
        OneSession(),
        called("a"),
        called("a", "judge", tokens=3),
        called("b", tokens=5),
        CaseOutput(suite="s", case="a"),
        Scored(suite="s", case="a", evaluator="judge", score=1),
        SuiteFinished(suite="s"),
    )
    assert list(map(tokens_of, usage.events)) == [10, 3, None]
    assert tokens_of(usage.suites["s.jsonl", "s"]) == 5  # of no event
    assert usage.script is None


def test_all_calls_of_a_single_suite_belong_to_it() -> None:
    steps = (SuiteStarted(suite="s"), called(), SuiteFinished(suite="s"), called("b", tokens=1), called(tokens=2))
    assert tokens_of(count_usage(OneSession(), *steps).suites["s.jsonl", "s"]) == 13


def test_a_call_belongs_to_the_suite_that_it_names() -> None:
    """The events of the first suite are read late, when the calls of the second have arrived."""
    calls = [called("a", suite="two", tokens=1), called("a", suite="one.jsonl", tokens=2), called(suite="two")]
    steps = [*calls, *(CaseOutput(suite=name, case="a") for name in ("one", "two")), SuiteFinished(suite="one")]
    found = count_usage(OneSession(), *steps)
    assert list(map(tokens_of, found.events)) == [2, 1, None]
    assert {key: tokens_of(usage) for key, usage in found.suites.items()} == {("two.jsonl", "two"): 10}
    assert found.script is None


def test_a_call_without_a_suite_belongs_to_the_script() -> None:
    started = [SuiteStarted(suite="one"), SuiteStarted(suite="two")]
    calls = [called(tokens=1), called("x", tokens=2), called(suite="three", tokens=4)]
    usage = count_usage(OneSession(), *started, *calls, SuiteFinished(suite="one"), SuiteFinished(suite="two"))
    assert (usage.events, usage.suites) == ([None] * 4, {})
    assert usage.script is not None
    assert (usage.script.input_tokens, usage.script.calls) == (7, 3)
    assert tokens_of(count_usage(OneSession(), called()).script) == 10  # also without any suite


def test_an_evaluator_with_several_scores_is_named_without_their_names() -> None:
    scores = [Scored(suite="s", case="a", evaluator=f"judge.v1.{name}", score=1) for name in ("polite", "short")]
    usage = count_usage(OneSession(), called("a", "judge.v1"), *scores)
    assert list(map(tokens_of, usage.events)) == [10, None]


def test_cached_answers_mark_outputs_of_their_suite() -> None:
    stored = {"answer": "x", "cached": True, "tokens": 0}
    calls = [called(suite="one", **stored), called(suite="two", answer="y")]
    outputs = [CaseOutput(suite=name, case="a") for name in ("one", "two")]
    one, two = usages(OneSession(), *calls, *outputs)
    assert one is not None
    assert (one.cached, one.calls) == (True, 0)  # the mark is no call
    assert two is not None
    assert not two.cached
    own, neither = usages(OneSession(), *calls, called(), *outputs)  # a call of any suite that was not stored
    assert (own, neither) == (None, None)


def test_usage_that_a_suite_reports_stays() -> None:
    own = Usage(100, model="own")
    (output,) = usages(OneSession(), called("a"), CaseOutput(suite="s", case="a", usage=own))
    assert output is not None
    assert (output.input_tokens, output.model) == (110, "m, own")
    (output,) = usages(OneSession(), called(answer="x", cached=True), CaseOutput(suite="s", case="a", usage=own))
    assert output == own


def test_errors_have_the_usage_of_failed_calls() -> None:
    error = ErrorInfo("E", "e")
    task, judge = usages(
        OneSession(),
        called("a"),
        called("a", "judge", tokens=3),
        Errored(suite="s", case="a", stage="task", error=error),
        Errored(suite="s", case="a", evaluator="judge", stage="evaluator", error=error),
    )
    assert [each and each.input_tokens for each in (task, judge)] == [10, 3]
