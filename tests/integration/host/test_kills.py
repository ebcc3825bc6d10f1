"""A host that is killed: what had finished is kept, no process goes on, and no older run is shown instead."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import psutil
import pytest
from tests.integration.host.conftest import Project, clean_environment, suite
from tests.integration.host.test_crashes import is_gone, wait_for
from tests.waiting import wait_until

from scoregate.kernel.judge.archive import read_run

# The first cases are quick. The last one waits, with processes of every kind.
BODY = """
import os, subprocess, sys, time

def fn(case):
    if os.path.exists("quick"):
        return case.input
    if case.input == "good 5":
        sleep = [sys.executable, "-c", "import time; time.sleep(300)"]
        kinds = [dict(), dict(start_new_session=True), dict(start_new_session=True, env={})]
        pids = [os.getpid(), *(subprocess.Popen(sleep, **kind).pid for kind in kinds)]
        with open("pids.partial", "w") as file:
            file.write(" ".join(map(str, pids)))
        os.replace("pids.partial", "pids")
        time.sleep(300)
    return case.input
"""


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose last run passed, and the one after it was killed once five of its nine cases had finished."""
    project = Project(tmp_path_factory.mktemp("killed"))
    project.write("evals/demo.py", suite(BODY, fn="fn", good=9, max_test_case_concurrency="1"))
    project.write("quick", "")
    assert project.scoregate("run").exit_code == 0
    (project.root / "quick").unlink()
    process = project.start_python("run")
    wait_for(project.root / "pids")
    wait_until(lambda: len(flushed_cases(project)) == 5)
    kill(process)
    return project


@pytest.fixture
def killed(killed_once: Project, tmp_path: Path) -> Project:
    """A copy of that project."""
    return Project(shutil.copytree(killed_once.root, tmp_path, dirs_exist_ok=True))


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=90)


def flushed_cases(project: Project, out: str = "scoregate-out") -> list[str]:
    """The cases in the file that the host is writing, as far as it can be unpacked."""
    paths = project.root.glob(f"{out}/run/in-progress-*/cases.jsonl.gz")
    texts = (zlib.decompressobj(31).decompress(path.read_bytes()) for path in paths)
    return [json.loads(line)["hash"] for text in texts for line in text.split(b"\n")[:-1]]


def test_no_process_survives(killed: Project) -> None:
    pids = [int(pid) for pid in (killed.root / "pids").read_text().split()]
    assert [pid for pid in pids if not is_gone(pid)] == []


@pytest.mark.parametrize("named", ["scoregate-out", "scoregate-out/run"])
@pytest.mark.parametrize("command", ["gate", "report", "compare"])
def test_no_earlier_run_is_shown(killed: Project, command: str, named: str) -> None:
    base = ["--baseline", "scoregate-out/run"] if command == "compare" else []
    outcome = killed.scoregate(command, named, *base)
    assert outcome.exit_code == (3 if command == "gate" else 0), outcome.output
    assert "5 of 5" in outcome.output
    assert "incomplete" in outcome.output
    assert "its process was killed; 5 of 9 cases had finished" in " ".join(outcome.output.split())
    assert "more cases than" not in outcome.output


def test_report_recovers_finished_cases(killed: Project) -> None:
    outcome = killed.scoregate("report", "--recover", "--format", "json")
    document = json.loads(outcome.output[outcome.output.index("{") :])
    assert document["conclusion"] == "unmeasurable"
    (folder,) = (outcome.out / "interrupted").iterdir()
    run = read_run(folder)
    assert sorted(case.hash for case in run.cases) == [f"good {number}" for number in range(5)]
    assert [case.output for case in run.cases] == [case.hash for case in run.cases]
    assert run.end.complete is False
    assert "5 cases" in run.notices[-1]
    assert not any("run.json" in notice for notice in run.notices)
    assert killed.scoregate("gate", "scoregate-out").exit_code == 3
    assert "nothing to recover" in killed.scoregate("report", "--recover", "-q").output


def test_the_next_run_recovers_it_first(killed: Project) -> None:
    killed.write("quick", "")
    outcome = killed.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert "5 cases that had finished" in outcome.output
    assert any("were recovered" in notice for notice in outcome.run["notices"])
    (folder,) = (outcome.out / "interrupted").iterdir()
    assert len(list(read_run(folder).cases)) == 5
    assert killed.scoregate("gate", "scoregate-out").exit_code == 0


def test_a_run_in_progress_is_refused(project: Project) -> None:
    project.write("evals/demo.py", suite(BODY, fn="fn", good=9, max_test_case_concurrency="1"))
    process = project.start("run")
    try:
        wait_for(project.root / "pids")
        outcome = project.scoregate("gate", "scoregate-out")
        assert outcome.exit_code == 3, outcome.output
        (number,) = re.findall(r"in progress in scoregate-out/run \(process (\d+)\)", outcome.output)
        assert psutil.Process(int(number)).cwd() == str(project.root)
        assert "nothing to recover" in project.scoregate("report", "--recover").output
        second = project.scoregate("run")
        assert second.exit_code == 2, second.output
    finally:
        process.terminate()
        process.communicate(timeout=90)


def test_a_kill_during_the_base_run_hides_the_older_run(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    body = (
        "import os, time\n"
        "if 'scoregate-base-' in os.getcwd():\n"
        "    open(os.environ['FLAG'], 'w').write('x')\n"
        "    time.sleep(300)"
    )
    flag = tmp_path_factory.mktemp("flags") / "in-base"  # the base's variables don't lead into the checkout
    project.write("evals/demo.py", suite(body))
    project.commit()
    assert project.scoregate("run", "--baseline", "none").exit_code == 0
    process = project.start("run", "--baseline", "rerun:HEAD", FLAG=str(flag))
    wait_for(flag)
    kill(process)
    outcome = project.scoregate("gate", "scoregate-out")
    assert outcome.exit_code == 3, outcome.output
    assert "didn't finish" in outcome.output


KILLED_AT_MARKER = """
import os, signal, sys
from scoregate.cli import run_gate
from scoregate.cli.entry import main

run_gate.mark_in_progress = lambda folder: os.kill(os.getpid(), signal.SIGKILL)
sys.argv[1:] = ["run"]
main()
"""


def test_a_kill_before_the_first_marker_hides_the_older_run(project: Project) -> None:
    project.write("evals/demo.py", suite())
    assert project.scoregate("run").exit_code == 0
    marker = project.root / "scoregate-out" / "run" / "in-progress.json"
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_MARKER], cwd=project.root, env=clean_environment(), check=False
    )
    assert (done.returncode, marker.exists()) == (-signal.SIGKILL, False)
    for command in ("gate", "report", "compare"):
        outcome = project.scoregate(command, "scoregate-out")
        assert outcome.exit_code == 3, (command, outcome.output)
        assert "didn't finish" in outcome.output
    assert project.scoregate("run").exit_code == 0
    assert project.scoregate("gate", "scoregate-out").exit_code == 0


@pytest.mark.parametrize("least", [0, 500])
def test_a_kill_at_any_time_loses_no_flushed_case(project: Project, least: int) -> None:
    quick = "import time\ndef fn(case):\n    time.sleep(0.002)\n    return case.input"
    project.write("evals/demo.py", suite(quick, fn="fn", good=20_000))
    process = project.start("run")
    wait_until(
        lambda: (
            len(flushed_cases(project)) >= least and list(project.root.glob("scoregate-out/run/in-progress-*/run.json"))
        )
    )
    kill(process)
    there = flushed_cases(project)
    assert len(there) >= least
    recovered = project.scoregate("report", "--recover", "-q")
    assert recovered.exit_code == 0 or not there, recovered.output
    paths = [read_run(folder) for folder in (project.root / "scoregate-out").glob("interrupted/*")]
    assert [case.hash for run in paths for case in run.cases] == there


def test_a_killed_command_ends_children(project: Project) -> None:
    project.write("sleep.sh", "sleep 300 & echo $$ $! > pids.partial; mv pids.partial pids; wait")
    process = project.start_python("exec", "--", "sh", "sleep.sh")
    wait_for(project.root / "pids")
    kill(process)
    assert [pid for pid in (project.root / "pids").read_text().split() if not is_gone(int(pid))] == []
