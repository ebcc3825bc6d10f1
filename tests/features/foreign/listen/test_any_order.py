"""Results and scores in any order, and as often as a retry sends them, make the same record."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.features.foreign.listen.session import open_session

from scoregate.kernel.types.runs.case_columns import known_values
from scoregate.kernel.types.runs.cases import CaseResult, Status

pytestmark = pytest.mark.anyio
WHO = {"testExternalId": "bot", "runId": "http-1"}
Calls = list[tuple[str, dict[str, Any]]]


def calls_of(cases: list[tuple[str, float | None, bool]]) -> Calls:
    """A result, an evaluation and an error for each case, where it has them."""
    calls: Calls = []
    for number, (output, score, errs) in enumerate(cases):
        who = {**WHO, "testCaseHash": f"case-{number % 3}-{number // 3}"}
        calls.append(("/results", who | {"testCaseBody": {"q": number % 3}, "testCaseOutput": output}))
        if score is not None:
            evaluation = {"score": score, "threshold": {"gte": 0.5}}
            calls.append(("/evals", who | {"evaluatorExternalId": f"e{number % 2}"} | evaluation))
        if errs:
            calls.append(("/errors", who | {"evaluatorExternalId": "judge", "error": {"message": output}}))
    return calls


@st.composite
def shuffled_calls(draw: st.DrawFn) -> tuple[Calls, Calls]:
    cases = st.tuples(st.text(max_size=5), st.none() | st.floats(0, 1), st.booleans())
    calls = calls_of(draw(st.lists(cases, min_size=1, max_size=9)))
    second = draw(st.lists(st.sampled_from(calls), max_size=10))
    return calls, draw(st.permutations(calls + second))


async def record(folder: Path, calls: Calls, *, at_once: bool) -> tuple[list[CaseResult], Any]:
    async with open_session(folder) as talk:
        run = await talk.start()
        async with anyio.create_task_group() as tasks:
            for path, fields in calls:
                if at_once:
                    tasks.start_soon(talk.post, path, fields)
                else:
                    await talk.post(path, fields)
        await talk.end(run)
    tally = talk.ear.tallies[-1]
    assert tally.states == {status: n for status in Status if (n := talk.suite.columns.count(status))}
    # While the command runs, nothing says which cases are repeats of one: the progress has means over trials.
    columns = {name: known_values(talk.suite.columns.scores[name]) for name in tally.means}
    assert tally.means == pytest.approx({name: fmean(scores) for name, scores in columns.items()})
    return sorted(talk.cases, key=lambda case: case.key), tally


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(both=shuffled_calls(), at_once=st.booleans())
async def test_order_and_duplicates_change_nothing(tmp_path: Path, both: tuple[Calls, Calls], at_once: bool) -> None:
    straight, tally = await record(tmp_path / "straight", both[0], at_once=False)
    mixed, mixed_tally = await record(tmp_path / "mixed", both[1], at_once=at_once)
    assert [case_content(case) for case in straight] == [case_content(case) for case in mixed]
    assert (tally.done, tally.states) == (mixed_tally.done, mixed_tally.states)
    assert tally.means == pytest.approx(mixed_tally.means)


def case_content(case: CaseResult) -> tuple[Any, ...]:
    errors = sorted((error.evaluator or "", error.error.message) for error in case.errors)
    return case.key, case.name, case.input, case.output, case.digest, case.evaluations, errors, case.status
