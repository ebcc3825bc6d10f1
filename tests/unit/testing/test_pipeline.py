"""Whatever cases and evaluators do, each is begun once, ended once, and told in an order that can be folded."""

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
from tests.unit.testing.builders import AsyncJudge, Case, Judge, passing, run, told

from scoregate.core.events import CaseFinished, CaseStarted, Errored, Event, Scored, SuiteFinished, SuiteStarted

DEEDS = ["good", "none", "raise", "wrong", "exit", "slow"]
KINDS = {"sync": Judge, "async": AsyncJudge}


@dataclass(frozen=True)
class Plan:
    """For each case what fn and each evaluator do; the kinds of evaluators; the limits."""

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


async def do(deed: str) -> Any:
    if deed == "slow":
        await asyncio.sleep(0.001)
    if deed == "raise":
        raise ValueError("as planned")
    if deed == "exit":
        raise SystemExit(2)
    return {"none": None, "wrong": object()}.get(deed, passing())


def expected(deeds: Sequence[str]) -> tuple[list[str], list[int], list[int]]:
    """Of one case: errors of fn, evaluators that score, evaluators that err."""
    if deeds[0] in ("raise", "exit", "wrong"):
        return ["task"], [], []
    numbered = list(enumerate(deeds[1:]))
    scores = [at for at, deed in numbered if deed in ("good", "slow")]
    return [], scores, [at for at, deed in numbered if deed in ("raise", "exit", "wrong")]


def judges(plan: Plan) -> list[Judge]:
    def scoring(at: int) -> Any:
        async def score(test_case: Case, _output: Any) -> Any:
            return await do(plan.cases[int(test_case.input)][at + 1])

        return score

    return [KINDS[kind](scoring(at), f"e{at}", plan.limits[at]) for at, kind in enumerate(plan.kinds)]


@settings(deadline=None, max_examples=50)
@given(plans)
def test_every_case_is_logged(plan: Plan) -> None:
    async def fn(test_case: Case) -> Any:
        return await do(plan.cases[int(test_case.input)][0])

    with tempfile.TemporaryDirectory() as folder, mock.patch.dict("os.environ", {"SCOREGATE_EVENTS": folder}):
        test_cases = [Case(str(at)) for at in range(len(plan.cases))]
        run(fn, judges(plan), test_cases, max_test_case_concurrency=plan.limits[-1])
        events = told(Path(folder))
    assert isinstance(events[0], SuiteStarted)
    assert isinstance(events[-1], SuiteFinished)
    assert [event.seq for event in events] == list(range(len(events)))
    for at, deeds in enumerate(plan.cases):
        check([event for event in events if getattr(event, "case", None) == str(at)], deeds)


def check(events: list[Event], deeds: Sequence[str]) -> None:
    assert isinstance(events[0], CaseStarted)
    assert isinstance(events[-1], CaseFinished)
    assert sum(isinstance(event, CaseStarted | CaseFinished) for event in events) == 2
    errors = [event for event in events if isinstance(event, Errored)]
    found = (
        [event.stage for event in errors if event.stage == "task"],
        sorted(int(event.evaluator[1:]) for event in events if isinstance(event, Scored)),
        sorted(int(event.evaluator[1:]) for event in errors if event.evaluator),
    )
    assert found == expected(deeds)
    unscored = {f"e{at}" for at, deed in enumerate(deeds[1:]) if deed == "none"} if not found[0] else set()
    assert set(events[-1].unscored) == unscored
