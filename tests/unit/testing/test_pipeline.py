"""For any cases and evaluators, each case starts once, ends once, and has valid events."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.testing.builders import AsyncJudge, Case, Judge, passing, read_events, run

from scoregate.kernel.types.events import CaseFinished, CaseStarted, Errored, Event, Scored, SuiteFinished, SuiteStarted

DEEDS = ["good", "none", "raise", "wrong", "exit", "slow"]
KINDS = {"sync": Judge, "async": AsyncJudge}


@dataclass(frozen=True)
class Plan:
    """The actions of fn and evaluators for each case, the kinds of evaluators, and the limits."""

    cases: Sequence[Sequence[str]]
    kinds: Sequence[str]
    limits: Sequence[int]


plans = st.integers(0, 3).flatmap(
    lambda count: st.builds(
        Plan,
        st.lists(st.lists(st.sampled_from(DEEDS), min_size=count + 1, max_size=count + 1), min_size=1, max_size=25),
        st.lists(st.sampled_from(sorted(KINDS)), min_size=count, max_size=count),
        st.lists(st.integers(1, 4), min_size=count + 1, max_size=count + 1),
    )
)


async def act(action: str) -> Any:
    if action == "slow":
        await asyncio.sleep(0.001)
    if action == "raise":
        raise ValueError("as planned")
    if action == "exit":
        raise SystemExit(2)
    return {"none": None, "wrong": object()}.get(action, passing())


def expected(actions: Sequence[str]) -> tuple[list[str], list[int], list[int]]:
    """The expected errors of fn, scoring evaluators and failing evaluators of one case."""
    if actions[0] in ("raise", "exit", "wrong"):
        return ["task"], [], []
    numbered = list(enumerate(actions[1:]))
    scores = [index for index, action in numbered if action in ("good", "slow")]
    return [], scores, [index for index, action in numbered if action in ("raise", "exit", "wrong")]


def judges(plan: Plan) -> list[Judge]:
    def scoring(index: int) -> Any:
        async def score(test_case: Case, _output: Any) -> Any:
            return await act(plan.cases[int(test_case.input)][index + 1])

        return score

    return [KINDS[kind](scoring(index), f"e{index}", plan.limits[index]) for index, kind in enumerate(plan.kinds)]


@settings(deadline=None, max_examples=50)
@given(plans)
def test_every_case_is_logged(plan: Plan) -> None:
    async def fn(test_case: Case) -> Any:
        return await act(plan.cases[int(test_case.input)][0])

    with tempfile.TemporaryDirectory() as folder, mock.patch.dict("os.environ", {"SCOREGATE_EVENTS": folder}):
        test_cases = [Case(str(index)) for index in range(len(plan.cases))]
        run(fn, judges(plan), test_cases, max_test_case_concurrency=plan.limits[-1])
        events = read_events(Path(folder))
    assert isinstance(events[0], SuiteStarted)
    assert isinstance(events[-1], SuiteFinished)
    assert [event.seq for event in events] == list(range(len(events)))
    for index, actions in enumerate(plan.cases):
        check_case([event for event in events if getattr(event, "case", None) == str(index)], actions)


def check_case(events: list[Event], actions: Sequence[str]) -> None:
    assert isinstance(events[0], CaseStarted)
    assert isinstance(events[-1], CaseFinished)
    assert sum(isinstance(event, CaseStarted | CaseFinished) for event in events) == 2
    errors = [event for event in events if isinstance(event, Errored)]
    found = (
        [event.stage for event in errors if event.stage == "task"],
        sorted(int(event.evaluator[1:]) for event in events if isinstance(event, Scored)),
        sorted(int(event.evaluator[1:]) for event in errors if event.evaluator),
    )
    assert found == expected(actions)
    unscored = {f"e{index}" for index, action in enumerate(actions[1:]) if action == "none"} if not found[0] else set()
    assert set(events[-1].unscored) == unscored
