"""How often cases run again, and which of them are significant."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.kernel.job.fresh_trials import (
    LEVEL,
    BaseSide,
    FailingCase,
    FreshTrials,
    count_rounds,
    find_level,
    run_fresh,
)
from scoregate.kernel.job.steps import Work
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.runs.confirmations import (
    Confirmation,
    ConfirmationOutcome,
    fisher_p,
    with_confirmations,
)
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import BaseReference, Run
from scoregate.kernel.types.slots import NO_SLOTS

CASES = [FailingCase("demo", "eval.py", "demo", "{}", f"c{number}") for number in range(6)]


@pytest.mark.parametrize(("cases", "rounds"), [(1, 5), (2, 6), (4, 6), (6, 6), (7, 7), (15, 7), (24, 8)])
def test_a_case_runs_once_more_than_the_level_needs(cases: int, rounds: int) -> None:
    assert count_rounds(cases) == rounds
    assert fisher_p((False,) * (rounds - 1), (True,) * (rounds - 1)) <= LEVEL / cases


def test_all_tested_cases_share_a_false_discovery_rate() -> None:
    strong, weak, noise = 0.001, 0.024, 0.5
    assert find_level([weak]) == weak
    assert find_level([strong, weak]) == weak
    assert find_level([weak, noise, noise]) == LEVEL / 3
    assert find_level([strong, weak, noise, noise]) == strong


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_a_case_that_stops_early_would_not_have_been_found(seed: int, size: int, chance: float) -> None:
    source = random.Random(seed)
    cases, rounds = CASES[:size], count_rounds(size)
    plan = {case: [(source.random() < chance, source.random() < 0.9) for _ in range(rounds)] for case in cases}
    fresh = FreshTrials(rounds, dict.fromkeys(cases, ()), dict.fromkeys(cases, ()))
    for number in range(rounds):
        for case in fresh.list_open(number, number):
            fresh.tries[case] = (*fresh.tries[case], plan[case][number][0])
        for case in fresh.list_open(number + 1, number):
            fresh.base_tries[case] = (*fresh.base_tries[case], plan[case][number][1])
    for case, outcomes in plan.items():
        whole = fisher_p([head for head, _ in outcomes], [base for _, base in outcomes])
        has_stopped = len(fresh.tries[case]) + len(fresh.base_tries[case]) < 2 * rounds
        assert not has_stopped or whole > LEVEL / size


def test_without_a_base_a_suite_stops_once_a_case_has_passed() -> None:
    fresh = FreshTrials(5, {CASES[0]: (False,), CASES[1]: (True,)}, dict.fromkeys(CASES[:2], ()), problem="no commit")
    assert fresh.list_open(1, 0) == []
    fresh.tries[CASES[1]] = (False,)
    assert fresh.list_open(1, 0) == CASES[:2]


def make_work(run: Run, head: Run, base: Run | None) -> Work:
    """Work whose further runs here and in the base are these."""

    async def record(*_: Any, **__: Any) -> Run:
        return head

    async def rerun(*_: Any, **__: Any) -> Baseline:
        return Baseline(base, "rerun of main")

    ports: Any = SimpleNamespace(stop=anyio.Event(), record=record, rerun=rerun)
    unused: Any = None
    plan = Plan(Path(), Interpreter(("python",), "Python"))
    return Work(run, Baseline(run, "main"), plan, Settings(), ports, NO_SLOTS, unused, unused)


@pytest.mark.anyio
async def test_trials_of_earlier_attempts_count_with_those_of_this_one() -> None:
    """Otherwise each attempt is another chance to miss a case that fails most of the time."""
    failed, passed = run_of(ExampleSuite(scored(0.0))), run_of(ExampleSuite(scored(1.0)))
    case = FailingCase.make(failed.suites[0], failed.suites[0].columns.hashes[0])
    run = replace(failed, compared_with=BaseReference("base", "main"))
    known = Confirmation(case.label, case.case, (False,) * 4 + (True,), (True,) * 5, LEVEL)
    attempt = with_confirmations(run, [known])
    rerun = replace(attempt, compared_with=BaseReference("another run", "main"))
    other = replace(attempt, compared_with=BaseReference("another", "main@b"))
    for earlier, tries in ((attempt, 10), (rerun, 10), (other, 5)):
        work = make_work(run.add_companion(TrialRole.MAIN, earlier), failed, passed)
        fresh = await run_fresh([case], 5, work, BaseSide(Settings()), name="broken")
        assert len(fresh.tries[case]) == len(fresh.base_tries[case]) == tries


@pytest.mark.anyio
async def test_a_base_without_results_is_no_base() -> None:
    failed, errors = run_of(ExampleSuite(scored(0.0))), run_of(ExampleSuite({}))
    case = FailingCase.make(failed.suites[0], failed.suites[0].columns.hashes[0])
    work = make_work(failed, failed, errors)
    fresh = await run_fresh([case], 5, work, BaseSide(Settings()), name="broken")
    assert fresh.problem == "it has no results of these cases (rerun of main)"
    assert [each.outcome for each in fresh.make_confirmations()] == [ConfirmationOutcome.OPEN]
