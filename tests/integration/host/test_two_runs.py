"""Two runs at a time: each in a folder of its own, and the second in one folder is refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest
from tests.integration.host.conftest import Project, suite

RUN = ("run", "--baseline", "none")
WAITS = """
import os, pathlib, time

pathlib.Path("started").write_text(str(os.getpid()))
while not pathlib.Path("go").exists():
    time.sleep(0.02)
"""


@contextmanager
def waiting_run(project: Project) -> Iterator[subprocess.Popen[str]]:
    """A run whose suite waits for a file `go`."""
    started = project.root / "started"
    process = project.start(*RUN)
    try:
        while not (started.exists() and started.read_text()):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        yield process
    finally:
        (project.root / "go").touch()
        process.communicate(timeout=180)


@pytest.mark.parametrize("command", ["run", "exec", "merge"])
def test_a_second_run_in_a_folder_is_refused(project: Project, command: str) -> None:
    project.write("evals/demo.py", suite(WAITS, good=5))
    words = {"exec": ["--", sys.executable, "-c", "1"], "merge": ["leg"]}.get(command, [])
    with waiting_run(project) as first:
        second = project.scoregate(command, *words)
        assert second.exit_code == 2, second.output
        text = " ".join(second.output.split())
        (number,) = re.findall(r"another scoregate run \(process (\d+)\) is writing to", text)
        assert psutil.Process(int(number)).cwd() == str(project.root)
        assert "--out" in text
        other = project.scoregate("exec", "--out", "other", "--baseline", "none", "--", sys.executable, "-c", "1")
        assert "is writing to" not in other.output
        (project.root / "go").touch()
        assert first.wait(180) == 0
    out = project.root / "scoregate-out"
    assert (out / "junit.xml").exists()
    assert not (out / ".lock").exists()


def test_a_killed_run_locks_no_folder(project: Project) -> None:
    project.write("evals/demo.py", suite(WAITS, good=5))
    with waiting_run(project) as first:
        first.kill()
        assert first.stdout is not None
        first.stdout.read()  # until the run has ended, too
        assert (project.root / "scoregate-out" / ".lock").exists()
        (project.root / "go").touch()
        second = project.scoregate(*RUN)
        assert second.exit_code == 0, second.output
        assert not (project.root / "scoregate-out" / ".lock").exists()


def test_runs_that_start_together_run_once(project: Project) -> None:
    project.write("evals/demo.py", suite(good=20))
    started = [project.start(*RUN, "-m", f"run {number}") for number in range(6)]
    outputs = [process.communicate(timeout=180)[0] for process in started]
    codes = [process.returncode for process in started]
    assert set(codes) <= {0, 2}, outputs
    assert 0 in codes
    for code, output in zip(codes, outputs, strict=True):
        assert code == 0 or "is writing to" in output, output
    out = project.root / "scoregate-out"
    run = json.loads((out / "run" / "run.json").read_text())
    assert run["suites"][0]["statuses"]["passed"] == 20
    assert json.loads((out / "result.json").read_text())["run"]["message"] == run["message"]
    assert f"scoregate: {run['message']}" in (out / "junit.xml").read_text()
