"""Processes that fork: no line is lost, torn or written twice."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from tests.integration.sdk.scripts import Home, finished_cases

from scoregate.kernel.types.events import CaseOutput, SuiteFinished, SuiteStarted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no fork there")


def test_a_child_forked_by_fn_keeps_the_log(home: Home) -> None:
    result = home.run("""
async def fn(case):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return case["n"]

assert run_test_suite("demo", cases(10), fn, [AsyncGood()], test_case_hash=["n"]).passed
""")
    assert (result.code, result.err) == (0, "")
    assert len(finished_cases(home.log())) == 10
    assert [event.seq for event in home.log()] == list(range(len(home.log())))


def test_a_forked_child_writes_results_in_complete_lines(home: Home) -> None:
    result = home.run("""
class Case:
    def __init__(self, name): self.name = name
    def hash(self): return self.name

manager = RunManager("demo")
manager.start()
children = []
for child in range(4):
    pid = os.fork()
    if pid == 0:
        for n in range(50):
            manager.add_result(Case(f"{child}-{n}"), str(child) * 20_000)
        os._exit(0)
    children.append(pid)
for n in range(50):
    manager.add_result(Case(f"parent-{n}"), "p" * 20_000)
for pid in children:
    assert os.waitpid(pid, 0)[1] == 0
result = manager.end()
print(len({case.hash for case in result.cases}))
""")
    assert (result.code, result.out, result.err) == (0, "250\n", "")
    events = home.log()
    assert len(set(finished_cases(events))) == 250
    outputs = [event.output for event in events if isinstance(event, CaseOutput)]
    assert Counter(output[0] for output in outputs) == {"0": 50, "1": 50, "2": 50, "3": 50, "p": 50}
    assert all(output == output[0] * 20_000 for output in outputs)
    assert isinstance(events[-1], SuiteFinished)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_suites_in_worker_processes_have_own_logs(home: Home, method: str) -> None:
    result = home.run(f"""
import multiprocessing

def work(name):
    return run_test_suite(name, cases(5), lambda case: case["n"], [Good()], test_case_hash=["n"]).passed

if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        assert pool.map(work, ["one", "two", "three"], 1) == [True] * 3
    assert work("parent")
""")
    assert (result.code, result.err) == (0, "")
    logs = home.logs()
    assert sorted(log[0].suite for log in logs) == ["one", "parent", "three", "two"]
    assert all(isinstance(log[0], SuiteStarted) and isinstance(log[-1], SuiteFinished) for log in logs)
    assert all({event.suite for event in log} == {log[0].suite} and len(finished_cases(log)) == 5 for log in logs)
