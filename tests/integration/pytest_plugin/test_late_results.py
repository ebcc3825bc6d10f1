"""Scores that are given after a test has ended are never lost without a word."""

from __future__ import annotations

import pytest
from tests.integration.pytest_plugin.conftest import Bench

BATCH = """
import pytest
PENDING = []

@pytest.fixture(scope="module", autouse=True)
def batch_judge():
    yield
    for case in PENDING:
        case.score("judged", False)

@pytest.mark.parametrize("i", range(4))
def test_answer(scoregate, i):
    scoregate.output("bad")
    PENDING.append(scoregate)

def test_last(scoregate): ...
"""
THREAD = """
import threading, time

def test_answer(scoregate):
    scoregate.score("good", True)
    def judge():
        time.sleep(DELAY)
        scoregate.score("judged", False)
    threading.Thread(target=judge).start()

def test_other(scoregate):
    time.sleep(WAIT)
"""
TEARDOWN = """
import pytest

@pytest.fixture
def judged(scoregate):
    yield
    scoregate.score("before", True)
    scoregate.score("judged", 0.2, threshold=0.5)

def test_answer(judged): ...

@pytest.mark.xfail
def test_expected(judged):
    assert False

def test_good(scoregate):
    scoregate.score("good", True)
"""


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "1")], ids=["alone", "xdist"])
def test_a_fixture_of_a_module_raises_and_the_suite_has_an_error(bench: Bench, workers: tuple[str, ...]) -> None:
    bench.write(BATCH)
    ran = bench.run(*workers)
    assert ran.code == 1
    suite = ran.suites["test_bot"]
    assert [error.type for error in suite.errors] == ["LateResult"]
    assert "score 'judged' was given after the test test_bot.py::test_answer[0] had ended" in suite.errors[0].message
    assert ran.statuses()["test_last"] == "errored"
    assert "To judge the outputs of many tests in one call" in ran.output
    assert not suite.passed


@pytest.mark.parametrize(("delay", "wait"), [(0.2, 3), (2, 0)], ids=["while others run", "after the session"])
def test_a_thread_makes_the_suite_unmeasurable(bench: Bench, delay: float, wait: float) -> None:
    bench.write(THREAD.replace("DELAY", str(delay)).replace("WAIT", str(wait)))
    ran = bench.run("-W", "ignore")
    assert ran.code == 0, "pytest itself sees no failure"
    suite = ran.suites["test_bot"]
    assert [error.type for error in suite.errors] == ["LateResult"], ran.output
    assert not suite.passed


def test_a_fixture_of_the_test_may_give_scores(bench: Bench) -> None:
    bench.write(TEARDOWN)
    for record in (True, False):
        ran = bench.run(record=record)
        assert ran.code == 1
        assert "judged 0.2, required: ≥ 0.5" in ran.output
        assert "2 passed, 1 xfailed, 1 error" in ran.output
        if record:
            assert ran.suites["test_bot"].errors == ()
            assert ran.cases["test_answer", 0].scores == {"passed": 1.0, "before": 1.0, "judged": 0.2}
            assert ran.statuses() == {"test_answer": "failed", "test_expected": "scored", "test_good": "passed"}
            assert ran.tests_failed


def test_plain_pytest_shows_the_error(bench: Bench) -> None:
    bench.write(BATCH)
    ran = bench.run(record=False)
    assert ran.code == 1
    assert "RuntimeError: score 'judged' was given after the test test_bot.py::test_answer[0] had ended" in ran.output
