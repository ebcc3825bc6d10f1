"""Suites run as people run them: as scripts, from the command line, from standard input."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from tests.integration.sdk.scripts import PREAMBLE, Home, finished_cases

from scoregate.kernel.types.events import SuiteFinished, SuiteStarted

FAILING = """
class Bad(Good):
    id = "bad"
    def evaluate_test_case(self, test_case, output):
        return Evaluation(0, Threshold(gte=1), {"why": "grün"})

run_test_suite("demo", cases(2), lambda case: case["n"], [Good(), Bad()], test_case_hash=["n"]%s)
"""


def test_without_host_a_failed_suite_exits_0(home: Home) -> None:
    result = home.run(FAILING % "", host=False)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("✗ demo: 2 cases · 2 failed · bad 0.000 · good 1.000\n")
    assert "bad 0, not ≥ 1 (why: grün)" in result.out


def test_without_host_a_suite_without_scores_exits_3(home: Home) -> None:
    for fn, evaluators, why in (
        ("lambda case: 1", "[]", "nothing was scored: the suite has no scorers"),
        ("lambda case: 1 / 0", "[Good()]", "✗ demo: 2 cases · 2 errored"),
    ):
        source = f"run_test_suite('demo', cases(2), {fn}, {evaluators}, test_case_hash=['n'])"
        result = home.run(source, host=False)
        assert (result.code, why in result.out) == (3, True), result


def test_with_assert_test_it_exits_1_with_a_reason(home: Home) -> None:
    result = home.run(FAILING % ", assert_test=True")
    assert result.code == 1
    assert "scoregate.errors.SuiteFailed: ✗ demo: 2 cases" in result.err
    last = home.log()[-1]
    assert isinstance(last, SuiteFinished)
    assert last.assertion_failed


@pytest.mark.parametrize("how", ["ascii", "closed"])
def test_a_limited_terminal_is_no_failure(home: Home, how: str) -> None:
    if how == "ascii":
        result = home.run(FAILING % "", host=False, PYTHONIOENCODING="ascii")
        assert result.out.startswith("? demo: 2 cases")
    else:
        result = home.run("sys.stdout = None\n" + FAILING % "", host=False)
        assert result.out == ""
    assert (result.code, result.err) == (0, "")


def test_development_mode_shows_no_warnings(home: Home) -> None:
    source = FAILING % "" + FAILING % ", timeout=5, grid_search_params={'x': [1, 2]}"
    for host in (True, False):
        result = home.run(source, host=host, options=["-X", "dev", "-W", "error"])
        # asyncio also notes steps of more than 0.1 s, as the first import can be on a busy machine.
        warnings = [line for line in result.err.splitlines() if not line.startswith("Executing <")]
        assert (result.code, warnings) == (0, [])


def test_threads_of_the_loop_end_with_the_script(home: Home) -> None:
    result = home.run(
        """
async def fn(case):
    return await asyncio.get_running_loop().run_in_executor(None, lambda: case["n"])

run_test_suite("demo", cases(3), fn, [Good()], test_case_hash=["n"])
""",
        options=["-W", "error"],
    )
    assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize("arguments", [["-c"], ["-"]], ids=["-c", "standard input"])
def test_a_suite_needs_no_file(home: Home, arguments: list[str]) -> None:
    source = PREAMBLE + "run_test_suite('demo', cases(2), lambda case: 1, [Good()], test_case_hash=['n'])"
    inline = arguments == ["-c"]
    process = subprocess.run(
        [sys.executable, *arguments, *([source] if inline else [])],
        input=None if inline else source,
        env=home.environ(True, {}),
        capture_output=True,
        text=True,
        check=False,
        cwd=home.root,
    )
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    started = home.log()[0]
    assert isinstance(started, SuiteStarted)
    assert started.origin is not None
    assert len(finished_cases(home.log())) == 2


def test_a_timed_out_fn_does_not_block_the_exit(home: Home) -> None:
    started = time.monotonic()
    result = home.run(
        "run_test_suite('demo', cases(3), lambda _: time.sleep(60), [], test_case_hash=['n'], timeout=0.1)"
    )
    assert (result.code, result.err) == (0, "")
    assert time.monotonic() - started < 50
    assert len(finished_cases(home.log())) == 3
    assert isinstance(home.log()[-1], SuiteFinished)


def test_an_async_program_may_run_suites(home: Home) -> None:
    result = home.run("""
async def later(case):
    await asyncio.sleep(0)
    return case["n"]

async def main():
    one = run_test_suite("one", cases(3), later, [AsyncGood()], test_case_hash=["n"])
    two = await asyncio.to_thread(run_test_suite, "two", cases(3), later, [Good()], test_case_hash=["n"])
    return one.passed and two.passed

assert asyncio.run(main())
""")
    assert (result.code, result.err) == (0, "")
    assert sorted(log[0].suite for log in home.logs()) == ["one", "two"]


PYTEST = """
import pytest
{preamble}
def test_good():
    assert run_test_suite("sync", cases(2), lambda case: 1, [Good()], test_case_hash=["n"], assert_test=True).passed

@pytest.mark.anyio
async def test_good_in_a_loop():
    async def later(case):
        return 1
    run_test_suite("async", cases(2), later, [AsyncGood()], test_case_hash=["n"], assert_test=True)

def test_bad():
    run_test_suite("bad", cases(2), lambda case: 1 / 0, [Good()], test_case_hash=["n"], assert_test=True)

@pytest.fixture
def anyio_backend():
    return "asyncio"
"""


# Without settings, pytest-asyncio warns in every project. The import of hypothesis takes longer than the test.
_NO_PLUGINS = ("-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:hypothesispytest")


def test_pytest_runs_suites_and_reports_their_assertions(home: Home) -> None:
    (home.root / "test_suites.py").write_text(PYTEST.format(preamble=PREAMBLE), encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", *_NO_PLUGINS, "test_suites.py"],
        env=home.environ(True, {}),
        capture_output=True,
        text=True,
        check=False,
        cwd=home.root,
    )
    assert process.returncode == 1
    assert "1 failed, 2 passed" in process.stdout
    assert "SuiteFailed: ✗ bad: 2 cases · 2 errored" in process.stdout
    assert {log[0].suite: log[-1].assertion_failed for log in home.logs()} == {  # type: ignore[union-attr]
        "sync": False,
        "async": False,
        "bad": True,
    }


FINGERPRINT = """
class Words(Good):
    id = "words"
    def __init__(self):
        self.words = {"a", "b", "c", "d", "e"}
        self.pattern = object()

run_test_suite("demo", [{"n": {"x", "y", "z", "w"}}], lambda case: 1, [Words()], test_case_hash=["n"])
"""


def test_nothing_depends_on_how_python_hashes(home: Home) -> None:
    for seed in ("0", "1", "2"):
        assert home.run(FINGERPRINT, PYTHONHASHSEED=seed).code == 0
    logs = home.logs()
    assert len(logs) == 3
    results = {(log[0].evaluators, log[1].case, log[1].digest) for log in logs}  # type: ignore[union-attr]
    assert len(results) == 1
    (fingerprint,) = {log[0].evaluators[0].fingerprint for log in logs}  # type: ignore[union-attr]
    assert None not in (fingerprint.source, fingerprint.parameters)
