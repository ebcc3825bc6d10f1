"""Regular expressions that would take for ever: each scorer that reads one ends with an error, and never passes."""

from __future__ import annotations

import marshal
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import ToolCall
from scoregate.scorers import json_schema, pattern_search, regex, tool_calls
from scoregate.scorers.assertions import assertion
from scoregate.scorers.pattern_search import is_fast, search_pattern
from scoregate.skills.graders import Trial, run_grader

SLOW, TEXT = r"(a+)+$", "a" * 40 + "!"
_CALL = Trajectory(steps=[ToolCall("run", {"command": TEXT})])


def _grade(**grader: Any) -> Any:
    return run_grader({"label": "x", **grader}, Trial(TEXT, _CALL, 1.0))


SCORERS: dict[str, Callable[[], Any]] = {
    "regex": lambda: regex(SLOW)(TEXT),
    "regex of the whole text": lambda: regex("(a|aa)+", full=True)(TEXT),
    "assertion": lambda: assertion("m")(TEXT, [{"type": "regex", "value": SLOW, "metric": "m"}]),
    "negated assertion": lambda: assertion("m")(TEXT, [{"type": "not-regex", "value": SLOW, "metric": "m"}]),
    "tool arguments": lambda: tool_calls([("run", {"command": SLOW})], args="regex")(_CALL),
    "schema": lambda: json_schema({"type": "string", "pattern": SLOW})(f'"{TEXT}"'),
    "grader of a skill": lambda: _grade(kind="matches", pattern=SLOW),
    "negated grader of a skill": lambda: _grade(kind="matches", pattern=SLOW, negated=True),
    "grader of a tool": lambda: _grade(kind="tool_matches", patterns={"tool": "run", "command_pattern": SLOW}),
}


@pytest.fixture(autouse=True)
def _own_child(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Endless searches are stopped sooner than users' are."""
    assert pattern_search.LIMIT_S == 1
    monkeypatch.setattr(pattern_search, "LIMIT_S", 0.1)
    yield
    pattern_search._child.close()


@pytest.mark.parametrize("scorer", SCORERS)
def test_an_endless_search_is_an_error(scorer: str) -> None:
    with pytest.raises(ValueError, match=r"took more than 0.1 s and was stopped, so there is no .*repeat") as error:
        SCORERS[scorer]()
    assert re.search(r"\(a\+\)\+\$|\(a\|aa\)\+", str(error.value))


def test_later_searches_have_a_new_process() -> None:
    assert search_pattern("(a)+b", "aab")
    first = pattern_search._child._process
    with pytest.raises(ValueError, match="was stopped"):
        search_pattern(SLOW, TEXT)
    assert first is not None
    # A machine that is very busy ends it by the clock.
    assert first.returncode in ((-signal.SIGPROF, -signal.SIGALRM) if hasattr(signal, "SIGPROF") else (1,))
    assert (search_pattern("(a)+b", "aab"), search_pattern("(a)+b", "aa")) == (True, False)


def test_an_interrupted_search_does_not_give_its_result_to_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert search_pattern("(a)+b", "aab")

    def interrupt(process: Any, request: Any) -> bool | None:
        process.stdin.write(marshal.dumps((1.0, request)))
        process.stdin.flush()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pattern_search, "_exchange", interrupt)
        with pytest.raises(KeyboardInterrupt):
            search_pattern("(a)+b", "aab")
    assert not search_pattern("(a)+b", "aa")


def test_a_child_process_that_dies_is_an_error() -> None:
    assert search_pattern("(a)+b", "aab")
    process = pattern_search._child._process
    assert process is not None
    process.kill()
    process.wait()
    with pytest.raises(ValueError, match="the child process ended with"):
        search_pattern("(a)+b", "aab")
    assert search_pattern("(a)+b", "aab")


@pytest.mark.parametrize(
    ("pattern", "text", "flags", "full", "found"),
    [
        (r"(\ud800)+", "x\ud800", 0, False, True),
        ("(É)", "é\n", re.IGNORECASE, False, True),
        ("(é)", "é\n", 0, True, False),
        ("(?i)(A) B # comment", "ab", re.VERBOSE | re.DEBUG, False, True),
        ("(é)x", "é" * 3_000_000 + "x", 0, False, True),
        ("", "", 0, True, True),
    ],
)
def test_the_process_finds_what_re_finds(pattern: str, text: str, flags: int, full: bool, found: bool) -> None:
    assert search_pattern(pattern, text, flags=flags, full=full) is found


def test_an_invalid_pattern() -> None:
    with pytest.raises(re.error, match="unterminated"):
        search_pattern("(a", "a")


@pytest.mark.parametrize(
    ("pattern", "text", "fast"),
    [
        ("9|nine", "x" * 100_000, True),
        (r"\d+ euros", "x" * 900, True),
        (r"\d+ euros", "x" * 100_000, False),
        (".*a.*b.*c", "x" * 900, False),
        ("(a+)+", "x", False),
        ("(?:a|a)(?:a|a)", "x", False),
    ],
)
def test_only_simple_patterns_are_searched_without_the_process(pattern: str, text: str, fast: bool) -> None:
    assert is_fast(pattern, text) is fast


def test_searches_from_many_threads() -> None:
    results: list[bool] = []

    def search(number: int) -> None:
        results.extend(search_pattern(f"(x)+{number}$", f"xx{each}") is (each == number) for each in range(20))

    threads = [threading.Thread(target=search, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 160


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_starts_its_own() -> None:
    program = (
        "import os\n"
        "from scoregate.scorers import pattern_search as p\n"
        "assert p.search_pattern('(a)+b', 'ab')\n"
        "first = p._child._process.pid\n"
        "if (child := os.fork()) == 0:\n"
        "    assert p.search_pattern('(a)+b', 'ab') and p._child._process.pid != first\n"
        "    os._exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "assert p.search_pattern('(a)+b', 'ab') and p._child._process.pid == first\n"
    )
    end = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (end.returncode, end.stderr) == (0, "")


def test_the_process_ends_with_its_parent() -> None:
    program = (
        "import os\n"
        "from scoregate.scorers import pattern_search as p\n"
        "p.search_pattern('(a)+b', 'ab')\n"
        "print(p._child._process.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    end = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.kill(int(end.stdout), 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the child process outlives its parent")
