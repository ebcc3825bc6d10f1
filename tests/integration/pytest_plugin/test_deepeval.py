"""Tests with metrics of deepeval: the host learns how each ended, and which cases it recorded."""

from __future__ import annotations

import pytest
from tests.integration.pytest_plugin.conftest import Bench

from scoregate.kernel.types.test_outcomes import OUTCOMES_FILE, TestOutcome, TestOutcomes, identify_deepeval_case

# The part of deepeval that the plug-in uses; tests/integration/migrate runs the real one.
DEEPEVAL = """
class TestRun:
    __test__ = False
    def __init__(self): self.cases = []
    def add_test_case(self, case): self.cases.append(case)
"""
TESTS = """
import os, types, pytest
from deepeval.test_run.test_run import TestRun

run = TestRun()

def record(name, text): run.add_test_case(types.SimpleNamespace(name=name, input=text))

class TestBot:
    def test_two(self):
        record("one", "q"), record("two", "q")
        assert len(run.cases) >= 2

@pytest.mark.parametrize("ok", [True, False])
def test_case(ok):
    record("same", str(ok))
    assert ok, "not ok"

def test_expected():
    with pytest.raises(AssertionError):
        record("expected", "q")
        assert 0

@pytest.mark.xfail
def test_xfail(): assert 0
def test_skipped(): pytest.skip("later")
def test_plain(): assert 0, "plain"
@pytest.fixture
def broken(): raise RuntimeError("no fixture")
def test_broken(broken): ...
@pytest.mark.scoregate
def test_marked(): assert 0
"""
# As pytest-rerunfailures: an attempt that is followed by another has reports with the outcome "rerun".
RERUN = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(report.failed for report in reports):
        for report in reports:
            report.outcome = "rerun" if report.failed else report.outcome
            item.ihook.pytest_runtest_logreport(report=report)
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    return True
"""
FLAKY = """
import types
from deepeval.test_run.test_run import TestRun

tries = []

def test_flaky():
    tries.append(1)
    TestRun().add_test_case(types.SimpleNamespace(name="flaky", input=None, scenario="s"))
    assert len(tries) > 1
"""


def write(bench: Bench, tests: str) -> None:
    for folder in ("deepeval", "deepeval/test_run"):
        bench.write("", f"{folder}/__init__.py")
    bench.write(DEEPEVAL, "deepeval/test_run/test_run.py")
    bench.write(tests)


def read(bench: Bench, *options: str, **environment: str) -> dict[str, TestOutcome]:
    bench.run(*options, "test_bot.py", PYTHONPATH=".", **environment)
    lines = (bench.events / OUTCOMES_FILE).read_bytes()
    return {each.test.removeprefix("test_bot.py::"): each for each in TestOutcomes.parse(lines)._outcomes}


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "2")])
def test_every_test_has_its_outcome_and_its_cases(bench: Bench, options: tuple[str, ...]) -> None:
    write(bench, TESTS)
    found = read(bench, *options, DEEPEVAL_RESULTS_FOLDER="x")
    failures = {name: outcome.failure.splitlines()[0] for name, outcome in found.items() if outcome.failure}
    assert failures == {
        "test_case[False]": "AssertionError: not ok",
        "test_plain": "AssertionError: plain",
        "test_broken": "RuntimeError: no fixture",
        "test_marked": "assert 0",
    }
    cases = {"TestBot::test_two": ("one", "two"), "test_expected": ("expected",)}
    identities = {name: tuple(identify_deepeval_case(each, "q") for each in names) for name, names in cases.items()}
    identities |= {f"test_case[{ok}]": (identify_deepeval_case("same", str(ok)),) for ok in (True, False)}
    assert {name: outcome.cases for name, outcome in found.items() if outcome.cases} == identities
    assert [name for name, outcome in found.items() if not outcome.is_clear] == ["test_skipped"]
    assert [name for name, outcome in found.items() if outcome.is_recorded] == ["test_marked"]
    assert len(found) == 9


def test_a_test_that_ran_again_has_no_clear_outcome(bench: Bench) -> None:
    write(bench, FLAKY)
    bench.write(RERUN, "conftest.py")
    (outcome,) = read(bench, DEEPEVAL_RESULTS_FOLDER="x").values()
    assert (outcome.is_clear, outcome.failure) == (False, None)
    assert outcome.cases == (identify_deepeval_case("flaky", "s"),) * 2


def test_a_file_that_cannot_be_collected_failed(bench: Bench) -> None:
    bench.write("import missing_module\n")
    found = read(bench, "--continue-on-collection-errors", DEEPEVAL_RESULTS_FOLDER="x")
    assert [outcome.failure is not None for outcome in found.values()] == [True]


def test_without_results_of_deepeval_nothing_is_written(bench: Bench) -> None:
    bench.write("def test_a(): ...\n")
    bench.run()
    assert not (bench.events / OUTCOMES_FILE).exists()
