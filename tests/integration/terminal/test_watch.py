"""`scoregate run --watch`: what runs again, what is shown, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest
from tests.integration.host.conftest import Project, start_program
from tests.integration.terminal.conftest import Open, plain_environment
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(find_spec("watchfiles") is None, reason="NOT TESTED, --watch: watchfiles is missing")

WAITING = "Waiting for changes. Ctrl+C ends the watch."
SUITE = """
from scoregate import evaluate
from scoregate.scorers import contains
{body}
evaluate({name!r}, data=[{{"id": f"case {{i}}", "input": "q", "expected": "9"}} for i in range({cases})], task={task},
         scorers=[contains()])
"""


def suite(name: str, task: str = "lambda input: 'at 9'", *, body: str = "", cases: int = 2) -> str:
    return SUITE.format(name=name, task=task, body=body, cases=cases)


class Watch:
    """A watch in a pipe, and what it has printed since it was read last."""

    def __init__(self, project: Project, *arguments: str, **environment: str) -> None:
        self.project, self._log = project, project.root.with_name(f"{project.root.name}.log")
        with self._log.open("wb") as log:
            environ = {**plain_environment(), **environment}
            self.process = start_program("run", "--watch", *arguments, cwd=project.root, environ=environ, output=log)
        self._read = 0

    def wait(self, *words: str, end: str = WAITING, keep: bool = False) -> str:
        """The output of a run, once it has these words, and has ended. `keep` leaves it to be read again."""
        limit = time.monotonic() + 90
        while True:
            text = self._read_new()
            if end in text and all(word in text for word in words):
                self._read += 0 if keep else text.index(end) + len(end)
                return text
            assert time.monotonic() < limit, text
            assert self.process.poll() is None, text
            time.sleep(0.02)

    def assert_quiet(self, seconds: float = 1.0) -> None:
        time.sleep(seconds)
        assert self._read_new().strip() == ""

    def wait_until_quiet(self, seconds: float = 2.0) -> str:
        """The output, once it has not grown for some seconds."""
        limit, text = time.monotonic() + 90, ""
        while text != (text := self._read_new()):
            assert time.monotonic() < limit, text
            time.sleep(seconds)
        return text

    def save(self, name: str, text: str, modified: float | None = None) -> None:
        save_file(self.project, name, text, modified)

    def _read_new(self) -> str:
        """What was printed since; its last character may be incomplete."""
        return self._log.read_text(encoding="utf-8", errors="replace")[self._read :]

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


Start = Callable[..., Watch]


def save_file(project: Project, name: str, text: str, modified: float | None = None) -> None:
    """Write a file as many editors do: to another name, which replaces it. It is never seen empty."""
    path = project.root / name
    partial = path.with_name(f".{path.name}.swp")
    partial.write_text(text, encoding="utf-8")
    if modified is not None:
        os.utime(partial, (modified, modified))
    partial.replace(path)


@pytest.fixture
def watch(project: Project) -> Iterator[Start]:
    """Starts a watch: `watch("-k", "hours")`."""
    started: list[Watch] = []

    def start(*arguments: str, **environment: str) -> Watch:
        started.append(Watch(project, *arguments, **environment))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def started_scripts(text: str) -> list[str]:
    """The scripts that a run started."""
    return sorted(re.findall(r"^▸ (\S+\.py)$", text, re.MULTILINE))


def test_two_changes_of_a_module_within_a_second_both_run(project: Project, watch: Start) -> None:
    second = 1_790_000_000
    project.write("helper.py", "def answer(input):\n    return 'at 9'\n")
    os.utime(project.root / "helper.py", (second, second))
    project.write("evals/hours.py", suite("hours", "helper.answer", body="import helper"))
    watch_session = watch()
    watch_session.wait("2 of 2 pass")
    assert list(project.root.glob("__pycache__/helper.*.pyc"))
    watch_session.save("helper.py", "def answer(input):\n    return 'at 8'\n", second + 0.5)
    watch_session.wait("helper.py changed", "2 newly failing")


def test_a_change_runs_what_it_affects(project: Project, watch: Start) -> None:
    project.write("helper.py", "def answer(input):\n    return 'at 9'\n")
    project.write("evals/hours.py", suite("hours", "helper.answer", body="import helper"))
    reads = "import json, pathlib\nTEXT = pathlib.Path('data/answers.md').read_text()"
    project.write("data/answers.md", "at 9")
    project.write("evals/other.py", suite("other", "lambda input: TEXT", body=reads))
    project.write("README.md", "A bot.")
    watch_session = watch()
    assert started_scripts(watch_session.wait("4 of 4 pass")) == ["evals/hours.py", "evals/other.py"]
    watch_session.save("helper.py", "def answer(input):\n    return 'at 8'\n")
    text = watch_session.wait("helper.py changed", "2 newly failing", "Not run again", "other: 2 passed")
    assert started_scripts(text) == ["evals/hours.py"]
    watch_session.save("helper.py", "def answer(input):\n    return 'at 9'\n")
    assert started_scripts(watch_session.wait("helper.py changed", "2 of 2 pass")) == ["evals/hours.py"]
    watch_session.save("data/answers.md", "at 10")
    assert started_scripts(watch_session.wait("data/answers.md changed", "2 newly failing")) == ["evals/other.py"]
    watch_session.save("README.md", "A good bot.")
    watch_session.assert_quiet()
    watch_session.save("evals/third.py", suite("third"))
    assert started_scripts(watch_session.wait("evals/third.py changed", "no baseline of this suite yet")) == [
        "evals/third.py"
    ]
    watch_session.save("evals/fourth.py", "")
    watch_session.wait("evals/fourth.py changed")
    watch_session.save("evals/fourth.py", suite("fourth"))
    assert started_scripts(watch_session.wait("evals/fourth.py changed")) == ["evals/fourth.py"]
    watch_session.save("scoregate.toml", "min_pass_rate = 0.9\n")
    text = watch_session.wait("scoregate.toml changed")
    assert started_scripts(text) == ["evals/fourth.py", "evals/hours.py", "evals/other.py", "evals/third.py"]
    assert watch_session.stop() == 1


def test_mistakes_do_not_end_the_watch(project: Project, watch: Start) -> None:
    project.write("evals/hours.py", suite("hours"))
    watch_session = watch()
    watch_session.wait("2 of 2 pass")
    watch_session.save("evals/hours.py", suite("hours") + "(")
    watch_session.wait("evals/hours.py", "can't parse it")
    watch_session.save("evals/hours.py", suite("hours", body="import missing_module"))
    text = watch_session.wait("No module named 'missing_module'")
    assert "warm_child" not in text
    watch_session.save("scoregate.toml", "min_pass_rat = 1\n")
    watch_session.wait("error: ", "min_pass_rat")
    watch_session.save("missing_module.py", "")
    watch_session.wait("error: ", "min_pass_rat")
    (project.root / "scoregate.toml").unlink()
    watch_session.wait("2 of 2 pass")
    assert watch_session.stop(signal.SIGTERM) == 0


SLOW = """
import pathlib, time
pathlib.Path({mark!r}).touch()
def answer(input):
    while not pathlib.Path('go').exists():
        time.sleep(0.01)
    return 'at 9'
"""


def test_a_change_cancels_the_run_in_progress(project: Project, watch: Start) -> None:
    project.write("evals/hours.py", suite("hours", "answer", body=SLOW.format(mark="one")))
    watch_session = watch()
    wait_until((project.root / "one").exists)
    watch_session.save("evals/hours.py", suite("hours", "answer", body=SLOW.format(mark="two")))
    wait_until((project.root / "two").exists)
    project.write("go", "")
    text = watch_session.wait("2 of 2 pass")
    assert started_scripts(text) == ["evals/hours.py"] * 2
    assert text.count("✓ scoregate") == 1
    (project.root / "go").unlink()
    watch_session.save("evals/hours.py", suite("hours", "answer", body=SLOW.format(mark="three")))
    wait_until((project.root / "three").exists)
    assert watch_session.stop() == 130
    left = subprocess.run(["pgrep", "-f", str(project.root)], capture_output=True, text=True, check=False)
    assert left.stdout == ""


def test_files_of_suites_start_no_other_run(project: Project, watch: Start) -> None:
    writes = "import pathlib, time\npathlib.Path('answers.json').write_text(str(time.time()))"
    project.write("evals/hours.py", suite("hours", body=writes))
    watch_session = watch()
    watch_session.wait("2 of 2 pass")
    watch_session.assert_quiet()
    command = "date +%N > stamp.json; echo x > .x.swp"
    watch_session.save("scoregate.toml", f'[[commands]]\nname = "shell"\nrun = ["sh", "-c", "{command}"]\n')
    notice = "stamp.json changes while suites run, so it is ignored then"
    watch_session.wait(notice, keep=True)
    text = watch_session.wait_until_quiet()
    assert 2 <= text.count("▸ shell") <= 5  # it is started at most three times for its own file
    watch_session.stop()


def test_options_select_cases_of_each_run(project: Project, watch: Start) -> None:
    project.write("evals/hours.py", suite("hours", cases=4))
    project.write("evals/other.py", suite("other"))
    watch_session = watch("evals/hours.py::hours::case 1", "evals/other.py", "-k", "case", "-x")
    assert "3 of 3 pass" in watch_session.wait()
    watch_session.save("evals/hours.py", suite("hours", cases=3))
    assert started_scripts(watch_session.wait("evals/hours.py changed", "1 of 1 pass")) == ["evals/hours.py"]
    watch_session.save("evals/other.py", suite("other", "lambda input: 'at 8'"))
    text = watch_session.wait("evals/other.py changed", "failed; cases that had not started did not run")
    assert started_scripts(text) == ["evals/other.py"]
    assert watch_session.stop() == 1


def test_a_script_runs_as_under_python(project: Project, watch: Start) -> None:
    body = """
import __main__, json, multiprocessing, os, pathlib, pickle, sys
import answers
class Answer: pass
assert type(pickle.loads(pickle.dumps(Answer()))) is Answer
assert 'scoregate' not in vars(__main__) and 'wait' not in vars(__main__)
seen = dict(mode=os.environ.get('MODE'), name=__name__, file=__file__, argv=sys.argv, path=sys.path[:2])
seen |= dict(spec=str(__spec__), text=answers.TEXT, stdin=sys.stdin.read(), safe=sys.flags.safe_path)
seen['main'] = sys.modules['__main__'].__file__
pathlib.Path('seen.json').write_text(json.dumps(seen, sort_keys=True))
"""
    project.write("evals/answers.py", "TEXT = 'first'\n")
    project.write("evals/hours.py", suite("hours", body=body))
    assert project.scoregate("run", MODE="x").exit_code == 0
    cold = (project.root / "seen.json").read_text(encoding="utf-8")
    watch_session = watch(MODE="x")
    watch_session.wait("2 of 2 pass")
    assert (project.root / "seen.json").read_text(encoding="utf-8") == cold
    watch_session.save("evals/answers.py", "TEXT = 'second'\n")
    watch_session.wait("evals/answers.py changed", "2 of 2 pass")
    assert (project.root / "seen.json").read_text(encoding="utf-8") == cold.replace("first", "second")
    watch_session.save("evals/json.py", "raise SystemExit('a module of this name')\n")
    watch_session.wait("a module of this name")
    assert watch_session.stop() == 3


def test_the_table_stays_on_the_screen(project: Project, window: Open) -> None:
    project.write("evals/hours.py", suite("hours", cases=20))
    terminal = window("run", "--watch", size=(100, 24))
    terminal.wait_for(lambda: WAITING in terminal.text)
    save_file(project, "evals/hours.py", suite("hours", "lambda input: 'at 8'", cases=20))
    terminal.wait_for(lambda: WAITING in terminal.text and "20 newly failing" in terminal.text)
    assert "evals/hours.py changed" in terminal.lines[0]
    assert "suite · scorer" in terminal.text
    save_file(project, "evals/hours.py", suite("hours", cases=20))
    terminal.wait_for(lambda: WAITING in terminal.text and "20 of 20 pass" in terminal.text)
    assert terminal.raw.count(b"\x1b[2J") == 3  # cleared once for each run
    terminal.press(b"\x03")
    assert terminal.finish() == 0
    assert not terminal.screen.cursor.hidden
    assert "Traceback" not in terminal.text


def test_invalid_options_are_refused(project: Project) -> None:
    project.write("evals/hours.py", suite("hours"))
    for arguments, environment, message in (
        ((), {"CI": "true"}, "--watch is for a developer's machine"),
        (("--json",), {}, "--watch and --json exclude each other"),
        (("--resume",), {}, "--watch and --resume exclude each other"),
        (("-k", "and"), {}, "-k"),
    ):
        outcome = project.scoregate("run", "--watch", *arguments, **environment)
        assert (outcome.exit_code, message in outcome.output) == (2, True), outcome.output
