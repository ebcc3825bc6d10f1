"""The exit code of a suite's file that Python runs by itself: 3 if nothing was scored, on every Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

UNSCORED = """
import atexit, importlib, os, sys, threading, time
from scoregate import evaluate
evaluate("bot", data=[{"input": 1}], task=lambda input: input, scorers=[])
"""
KEPT_BY_GENERICS = """
import importlib.util
if importlib.util.find_spec("aiohttp"):
    import aiohttp
from dataclasses import dataclass
from scoregate.testing.evaluators import BaseToxicity, BaseAutomaticBattle
from scoregate.testing.models import BaseTestCase
from scoregate.testing.run import run_test_suite

@dataclass
class Question(BaseTestCase):
    input: str
    def hash(self): return self.input

class Toxicity(BaseToxicity[Question, str]):
    id = "toxicity"
    def output_mapper(self, output): return output

class Battle(BaseAutomaticBattle[Question, str]):
    id = "battle"
    criteria = "better"
    def output_mapper(self, output): return output

run_test_suite("bot", [Question("a")], lambda case: case.input, [Toxicity(), Battle()])
"""


def run(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "suite.py").write_text(source, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SCOREGATE_", "OPENAI_"))}
    command = [sys.executable, *options, "suite.py"]
    return subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, timeout=120, check=False)


def test_nothing_scored_is_3_whatever_the_script_keeps_alive(tmp_path: Path) -> None:
    ended = run(tmp_path, KEPT_BY_GENERICS)
    assert ended.returncode == 3, ended
    assert "1 case" in ended.stdout


def test_the_process_ends_as_always_but_for_its_code(tmp_path: Path) -> None:
    """Handlers run once and in their order, threads are awaited, and finalizers and open files complete."""
    ended = run(
        tmp_path,
        "import atexit\natexit.register(print, 'registered before')\n"
        + UNSCORED
        + """
class Kept:
    def __del__(self): os.write(1, b"finalized\\n")
kept = Kept()
file = open("open.txt", "w")
file.write("text")
atexit.register(print, "registered after")
def work():
    time.sleep(0.3)
    atexit.register(print, "registered in a thread")
    print("thread")
threading.Thread(target=work).start()
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
sys.stdout.write("end of the script ")
sys.exit(0)
""",
    )
    assert ended.returncode == 3, ended
    lines = ["end of the script thread", "registered in a thread", "registered after", "registered before", "finalized"]
    assert ended.stdout.splitlines()[-5:] == lines
    assert (tmp_path / "open.txt").read_text() == "text"
    assert ended.stderr == ""


@pytest.mark.parametrize("hook", ["", "sys.excepthook = lambda *_: print('hook', file=sys.stderr)\n"])
def test_an_exception_is_1(tmp_path: Path, hook: str) -> None:
    ended = run(tmp_path, f"{UNSCORED}{hook}def fail():\n    raise ValueError('no')\nfail()\n")
    assert ended.returncode == 1, ended
    assert ("hook" if hook else "ValueError: no") in ended.stderr


def test_an_exception_elsewhere_is_not_that_of_the_script(tmp_path: Path) -> None:
    """A test runner sets `sys.last_traceback`; an exception of a thread doesn't end the process."""
    ended = run(
        tmp_path,
        UNSCORED
        + """
def fail(): raise ValueError("no")
try:
    fail()
except ValueError as error:
    sys.last_value, sys.last_traceback = error, error.__traceback__.tb_next
threading.Thread(target=fail).start()
""",
    )
    assert ended.returncode == 3, ended


def test_other_processes_have_their_own_code(tmp_path: Path) -> None:
    """Of a forked process, of multiprocessing, and of a script that the script starts."""
    ended = run(
        tmp_path,
        UNSCORED
        + """
import multiprocessing, subprocess
if not (child := os.fork()):
    sys.exit(0)
print("fork", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
process = multiprocessing.get_context("fork").Process(target=print)
process.start(); process.join()
print("multiprocessing", process.exitcode)
print("script", subprocess.run([sys.executable, "-c", "1"]).returncode)
""",
        "-W",
        "ignore",
    )
    assert ended.returncode == 3, ended
    assert {"fork 0", "multiprocessing 0", "script 0"} <= set(ended.stdout.splitlines()), ended


def test_without_ctypes_the_output_is_complete(tmp_path: Path) -> None:
    ended = run(tmp_path, UNSCORED + "sys.modules['ctypes'] = None\nsys.stdout.write('the end')\n")
    assert (ended.returncode, ended.stdout[-7:], ended.stderr) == (3, "the end", "")


def test_coverage_writes_its_data(tmp_path: Path) -> None:
    pytest.importorskip("coverage")
    ended = run(tmp_path, UNSCORED, "-m", "coverage", "run")
    assert ended.returncode == 3, ended
    assert (tmp_path / ".coverage").stat().st_size > 0
