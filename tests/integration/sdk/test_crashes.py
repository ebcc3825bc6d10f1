"""If a process dies, all its earlier events are in its log."""

from __future__ import annotations

import os
import signal
import time

import pytest
from tests.integration.sdk.scripts import Home, finished_cases, wait_for_end

from scoregate.kernel.types.events import CaseOutput, CaseStarted, Scored, SuiteFinished, SuiteStarted
from scoregate.kernel.types.runs.reducer import SuiteReducer

DEATHS = {
    "kill -9": ("os.kill(os.getpid(), 9)", -signal.SIGKILL),
    "os._exit": ("os._exit(7)", 7),
    "abort": ("os.abort()", -signal.SIGABRT),
    "a segmentation fault": ("__import__('ctypes').string_at(0)", -signal.SIGSEGV),
    "SIGTERM": ("os.kill(os.getpid(), 15); time.sleep(5)", -signal.SIGTERM),
}
DYING = """
def fn(case):
    if case["n"] == 8:
        wait_until_finished(8)
        %s
    return "x" * 1000

run_test_suite("demo", cases(20), fn, [Good(), AsyncGood()], 1, test_case_hash=["n"])
"""


@pytest.mark.parametrize(("death", "code"), DEATHS.values(), ids=DEATHS)
def test_a_crash_keeps_finished_cases(home: Home, death: str, code: int) -> None:
    assert home.run(DYING % death).code == code
    events = home.log()
    assert isinstance(events[0], SuiteStarted)
    assert events[0].cases == 20
    assert len(finished_cases(events)) == 8
    assert sum(isinstance(event, Scored) for event in events) == 16
    assert sum(isinstance(event, CaseStarted) for event in events) == 9
    assert not any(isinstance(event, SuiteFinished) for event in events)


def test_a_partial_log_can_be_read(home: Home) -> None:
    home.run(DYING % "os._exit(7)")
    fold = SuiteReducer(0, "demo")
    cases = [case for event in home.log() if (case := fold.apply(event))]
    (unfinished,) = fold.close()
    assert [str(case.status) for case in cases] == ["passed"] * 8
    assert [error.error.type for error in unfinished.errors] == ["Unfinished"]
    assert not fold.result("demo").complete


def test_a_killed_process_leaves_at_most_one_partial_line(home: Home) -> None:
    process = home.start("""
manager = RunManager("demo")
manager.start()
class Case:
    def hash(self): return "a"
while True:
    manager.add_result(Case(), "x" * 300_000)
""")
    home.wait_for(lambda events: len(finished_cases(events)) > 20)
    process.kill()
    wait_for_end(process)
    events = home.log()
    assert [event.seq for event in events] == list(range(len(events)))
    assert len(finished_cases(events)) > 20


HANGING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)

async def later(case):
    await asyncio.sleep(60 if case["n"] == 8 else 0)

def at_once(case):
    while case["n"] == 8 and not os.path.exists("go"):
        time.sleep(0.01)

run_test_suite("demo", cases(9), %s, [Good()], test_case_hash=["n"])
print("went on")
"""


@pytest.mark.parametrize("fn", ["later", "at_once"])
def test_ctrl_c_ends_the_run_and_keeps_events(home: Home, fn: str) -> None:
    process = home.start(HANGING % fn)
    home.wait_for(lambda events: len(finished_cases(events)) == 8)
    started = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    (home.root / "go").touch()  # a thread can't be cancelled
    outcome = wait_for_end(process)
    assert time.monotonic() - started < 40
    assert outcome.code != 0
    assert "KeyboardInterrupt" in outcome.err
    assert "went on" not in outcome.out
    events = home.log()
    assert len(finished_cases(events)) >= 8
    assert not any(isinstance(event, SuiteFinished) for event in events)


def test_ctrl_c_during_a_timed_run_does_not_wait_for_threads(home: Home) -> None:
    process = home.start(HANGING.replace('["n"])', '["n"], timeout=50)') % "at_once")
    home.wait_for(lambda events: len(finished_cases(events)) == 8)
    started = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    assert "KeyboardInterrupt" in wait_for_end(process).err
    assert time.monotonic() - started < 40


def test_a_running_case_has_its_start_in_the_log(home: Home) -> None:
    home.run(DYING % "os._exit(0)")
    events = home.log()
    assert [event.case for event in events if isinstance(event, CaseStarted)][-1] not in finished_cases(events)
    assert sum(isinstance(event, CaseOutput) for event in events) == 8
