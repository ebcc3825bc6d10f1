"""If a script crashes, hangs or is killed, its results are stored and the exit code is correct."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import psutil
import pytest
from tests.integration.host.conftest import Project, suite
from tests.waiting import wait_until

# A case calls it to wait until those before it, which are scored meanwhile, are in the log of events.
WAIT_FOR_SCORES = """
import os, pathlib, time

def wait_for_scores(number):
    logs = pathlib.Path(os.environ["SCOREGATE_EVENTS"])
    while sum(path.read_text().count('"case_finished"') for path in logs.glob("*.jsonl")) < number:
        time.sleep(0.01)

"""


def test_a_suite_killed_while_it_runs_keeps_its_finished_cases(project: Project) -> None:
    die = (
        f"{WAIT_FOR_SCORES}import signal\n"
        "def fn(case):\n"
        "    if case.input == 'good 5':\n"
        "        wait_for_scores(5)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return case.input"
    )
    project.write("evals/demo.py", suite(die, fn="fn", good=9, max_test_case_concurrency="1"))
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert outcome.statuses["passed"] == 5
    assert outcome.statuses["errored"] >= 1
    assert "SIGKILL" in outcome.output


@pytest.mark.parametrize("leave", ["os._exit(0)", "os._exit(7)", "os.abort()"])
def test_a_suite_that_exits_early_is_unmeasurable(project: Project, leave: str) -> None:
    body = f"import os\ndef fn(case):\n    if case.input == 'good 2':\n        {leave}\n    return case.input"
    project.write("evals/demo.py", suite(body, fn="fn", max_test_case_concurrency="1"))
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert outcome.run["suites"][0]["complete"] is False


def test_a_crash_after_an_assertion_is_reported(project: Project) -> None:
    body = suite(bad=1, assert_test="True").replace("run_test_suite(id=", "try:\n    run_test_suite(id=")
    project.write("evals/demo.py", f"{body}except AssertionError:\n    raise SystemExit(5)\n")
    outcome = project.scoregate("run", "--min-pass-rate", "0")
    assert "exit code 5" in outcome.output


def test_a_failed_assert_test_fails_the_gate(project: Project) -> None:
    project.write("evals/demo.py", suite(bad=1, assert_test="True"))
    outcome = project.scoregate("run", "--min-pass-rate", "0")
    assert outcome.exit_code == 1
    assert "assert_test" in outcome.output


def test_a_script_that_fails_after_its_suite_is_unmeasurable(project: Project) -> None:
    project.write("evals/demo.py", suite() + "\nraise SystemExit(5)\n")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert outcome.statuses == {"passed": 3}


@pytest.mark.parametrize("environment", ["None", "{}"], ids=["ours", "none"])
def test_a_script_at_its_time_limit_is_stopped_with_all_its_descendants(project: Project, environment: str) -> None:
    body = (
        "import subprocess, sys, time\n"
        "def fn(case):\n"
        "    if case.input == 'good 1':\n"
        "        sleeper = [sys.executable, '-c', 'import time; time.sleep(300)']\n"
        f"        child = subprocess.Popen(sleeper, start_new_session=True, env={environment})\n"
        "        open('child.pid', 'w').write(str(child.pid))\n"
        "        time.sleep(300)\n"
        "    return case.input"
    )
    project.write("evals/demo.py", suite(body, fn="fn", max_test_case_concurrency="1"))
    for limit in ("3", "15", "60"):  # on a busy machine, the child may not have started in three seconds
        outcome = project.scoregate("run", "--timeout", limit)
        assert outcome.exit_code == 3
        assert outcome.run["scripts"][0]["timed_out"] is True
        if (project.root / "child.pid").exists():
            break
    assert is_gone(int((project.root / "child.pid").read_text()))


def is_gone(pid: int) -> bool:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_keeps_its_record_and_ends_children(project: Project, number: int) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip(f"{signal.Signals(number).name} is ignored here, as under nohup")
    body = (
        f"{WAIT_FOR_SCORES}"
        "def fn(case):\n"
        "    if case.input == 'good 1':\n"
        "        wait_for_scores(1)\n"
        "        open('suite.pid', 'w').write(str(os.getpid()))\n"
        "        time.sleep(300)\n"
        "    return case.input"
    )
    project.write("evals/demo.py", suite(body, fn="fn", max_test_case_concurrency="1"))
    process = project.start("run")
    wait_for(project.root / "suite.pid")
    process.send_signal(number)
    outcome = project.finish(process)
    assert outcome.exit_code == 130
    assert outcome.run["complete"] is False
    assert outcome.statuses["passed"] == 1
    assert is_gone(int((project.root / "suite.pid").read_text()))


def wait_for(path: Path) -> None:
    wait_until(lambda: path.exists() and path.read_text())


def test_a_half_written_last_line_is_unmeasurable(project: Project) -> None:
    tail = "import glob, os\nopen(glob.glob(os.environ['SCOREGATE_EVENTS'] + '/*')[0], 'a').write('{\"type\":')\n"
    project.write("evals/demo.py", suite() + tail)
    outcome = project.scoregate("run")
    assert (outcome.exit_code, outcome.statuses) == (3, {"passed": 3})
    assert "1 line of its event logs can't be read" in outcome.output


def test_a_child_with_an_open_pipe_does_not_block(project: Project) -> None:
    body = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'])\n"
    project.write("evals/demo.py", suite(body))
    started = time.monotonic()
    assert project.scoregate("run").exit_code == 0
    assert time.monotonic() - started < 100


def test_a_suite_gets_no_token_and_its_secrets_are_redacted(project: Project) -> None:
    project.write("evals/demo.py", suite("import os", fn="lambda case: repr(sorted(os.environ.items()))"))
    secrets = {
        "GITHUB_TOKEN": "ghs_abcdefghijklmnop",
        "INPUT_GITHUB-TOKEN": "ghs_abcdefghijklmnop",
        "ACTIONS_RUNTIME_TOKEN": "runtime-token-value",
        "COPY_OF_IT": "ghs_abcdefghijklmnop",
        "OPENAI_API_KEY": "sk-secret-of-the-user",
        "GITHUB_OUTPUT": "/dev/null",
    }
    outcome = project.scoregate("run", **secrets)
    written = "".join(
        p.read_text(errors="replace") for p in outcome.out.rglob("*") if p.is_file() and p.suffix != ".gz"
    )
    import gzip

    written += gzip.decompress((outcome.out / "run" / "cases.jsonl.gz").read_bytes()).decode()
    assert "OPENAI_API_KEY" in written
    for name in ("GITHUB_TOKEN", "INPUT_", "ACTIONS_", "GITHUB_OUTPUT", "COPY_OF_IT"):
        assert name not in written
    for value in ("ghs_abcdef", "runtime-token-value", "sk-secret-of-the-user"):
        assert value not in written + outcome.output


def test_a_token_of_the_checkout_is_reported(project: Project) -> None:
    project.write("evals/demo.py", suite())
    (alone,) = project.scoregate("run", GITHUB_ACTIONS="true").run["notices"]
    assert alone.startswith("outside of scoregate's container, suites run as one user")
    project.git("config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic c2VjcmV0")
    _, notice = project.scoregate("run", GITHUB_ACTIONS="true").run["notices"]
    assert "persist-credentials: false" in notice
    assert project.scoregate("run").run["notices"] == []


def test_suite_output_contains_no_ci_commands(project: Project) -> None:
    noise = 'print("::error::boo\\n  ::set-output name=a::b\\nx ##[group]y\\x1b[31m")'
    project.write("evals/demo.py", suite(noise))
    outcome = project.scoregate("run")
    assert not [line for line in outcome.output.splitlines() if line.lstrip().startswith("::")]
    assert "##[" not in outcome.output
    assert "\x1b" not in outcome.output


def test_only_files_are_read_as_event_logs(project: Project) -> None:
    project.write("secret.txt", "what only the host may read\n")
    body = (
        "import os\n"
        "folder = os.environ['SCOREGATE_EVENTS']\n"
        "os.symlink(os.path.abspath('secret.txt'), folder + '/a-link.jsonl')\n"
        "os.symlink('/proc/self/environ', folder + '/a-way-out.jsonl')\n"
        "os.mkfifo(folder + '/b-pipe.jsonl')\n"
        "os.mkdir(folder + '/c-folder.jsonl')\n"
    )
    project.write("evals/demo.py", suite(body))
    outcome = project.scoregate("run", SOME_VARIABLE="of the host")
    assert outcome.exit_code == 3, outcome.output
    assert outcome.statuses == {"passed": 3}
    message = outcome.run["scripts"][0]["error"]["message"]
    assert [name for name in ("a-link", "a-way-out", "b-pipe", "c-folder") if f"{name}.jsonl" not in message] == []
    assert "only the host" not in message
    assert "SOME_VARIABLE" not in message
