"""Other plug-ins of pytest: workers, event loops, attempts."""

from __future__ import annotations

import pytest
from tests.integration.pytest_plugin.conftest import Bench, Ran

MANY = """
import os, pytest

@pytest.mark.scoregate(suite="numbers", repeats=3)
@pytest.mark.parametrize("number", range(8))
def test_number(scoregate, number):
    scoregate.output("ä\\ud800" * number)
    scoregate.score("size", number / 8, threshold=0.1)
    if number == 5 and os.environ.get("CRASH"):
        os._exit(0)

def test_other(scoregate): ...
"""


def scores(ran: Ran) -> dict[tuple[str, int], dict[str, float]]:
    return {key: case.scores for key, case in sorted(ran.cases.items())}


def test_workers_record_what_one_process_records(bench: Bench) -> None:
    bench.write(MANY)
    alone, workers = bench.run(), bench.run("-p", "xdist", "-n", "2")
    assert (alone.code, workers.code) == (1, 1), workers.output
    assert scores(workers) == scores(alone)
    assert len(workers.cases) == 25
    assert workers.tests_failed
    for suite, known in alone.suites.items():
        found = workers.suites[suite]
        assert found.complete
        assert (found.planned, found.origin, found.evaluators) == (known.planned, known.origin, known.evaluators)


def test_a_worker_that_crashes_leaves_an_error(bench: Bench) -> None:
    bench.write(MANY)
    xdist = ("-p", "xdist", "-n", "2", "--dist", "loadfile", "--max-worker-restart", "1")  # as each new one crashes
    outcome = bench.run(*xdist, CRASH="1")
    suite = outcome.suites["numbers"]
    assert (outcome.code, outcome.tests_failed) == (1, False), outcome.output
    assert suite.errors
    assert {error.type for error in suite.errors} <= {"WorkerCrashed", "Unfinished"}
    assert all(case.errors for (name, _), case in outcome.cases.items() if name == "test_number[5]")


def test_async_tests_are_recorded(bench: Bench) -> None:
    pytest.importorskip("pytest_asyncio")
    bench.write("""
import anyio, asyncio, pytest

@pytest.fixture
def anyio_backend(): return "asyncio"

@pytest.mark.asyncio
@pytest.mark.scoregate(repeats=2)
async def test_asyncio(scoregate):
    await asyncio.sleep(0)
    scoregate.score("polite", 0.2, threshold=0.5)

@pytest.mark.anyio
async def test_anyio(scoregate):
    async def check():
        assert "9" in "ten"

    scoregate.output("ten")
    async with anyio.create_task_group() as group:
        group.start_soon(check)
""")
    outcome = bench.run("-o", "asyncio_default_fixture_loop_scope=function", installed=True)
    assert (outcome.code, outcome.tests_failed) == (1, True), outcome.output
    assert outcome.statuses() == {"test_asyncio": "failed", "test_anyio": "failed"}
    assert outcome.cases["test_asyncio", 1].scores == {"passed": 1.0, "polite": 0.2}
    assert outcome.cases["test_anyio", 0].reasons["passed"].startswith("assert '9' in 'ten'")
    assert outcome.cases["test_anyio", 0].output == "ten"


# As plug-ins that run failed tests again do it.
AGAIN = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    for last in (False, True):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if last or not any(report.failed for report in reports):
            break
        item._initrequest()
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    return True
"""


def test_each_attempt_at_a_test_is_a_trial(bench: Bench) -> None:
    bench.write(AGAIN, "conftest.py")
    bench.write("calls = []\ndef test_it(scoregate):\n    calls.append(1)\n    scoregate.score('s', len(calls) > 1)\n")
    outcome = bench.run()
    assert outcome.code == 0, outcome.output
    assert [case.scores["s"] for _, case in sorted(outcome.cases.items())] == [0.0, 1.0]
    assert outcome.suites["test_bot"].complete
