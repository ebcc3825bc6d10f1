"""A hostile suite in the container reaches nothing of the host process."""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.container.conftest import OWNER, TOKEN, Action, change_owner, podman
from tests.integration.host.conftest import Project, Ran, suite
from tests.integration.host.test_crashes import WAIT_FOR_SCORES

WORKSPACE = "/github/workspace"
SPY = """
import glob, json, os, socket
found = {"environ": dict(os.environ), "ids": [*os.getresuid(), *os.getresgid()], "groups": os.getgroups(), "read": {}}
for path in ["/proc/1/environ", *glob.glob("/proc/[0-9]*/environ"), *glob.glob("/proc/[0-9]*/mem")]:
    if path.split("/")[2] != str(os.getpid()):
        try:
            found["read"][path] = open(path, "rb").read(1 << 16).decode("utf-8", "replace")
        except OSError as error:
            found["read"][path] = error.strerror
for path in glob.glob("/var/run/docker.sock"):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        found["docker"] = "connected"
    except OSError as error:
        found["docker"] = error.strerror
try:
    open("/opt/scoregate/lib/mine.py", "w")
    found["image"] = "written"
except OSError as error:
    found["image"] = error.strerror
for folder in ("SCOREGATE_EVENTS", "HOME"):
    try:
        os.rename(os.environ[folder], os.environ[folder] + "-moved")
        found[folder] = "moved"
    except OSError as error:
        found[folder] = error.strerror
json.dump(found, open("found.json", "w"))
"""


def read_findings(project: Project) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((project.root / "found.json").read_text())
    return loaded


def test_a_suite_reads_no_host_file(action: Action, project: Project) -> None:
    project.write("evals/demo.py", suite(SPY))
    change_owner(project.root, OWNER)
    env = {"OPENAI_API_KEY": "sk-theirs-0123456789", "COPY_OF_IT": TOKEN}
    result = action.run(project.root, {"message": "of the workflow alone"}, env)
    assert result.exit_code == 0, result.log
    seen = read_findings(project)
    uids, gids = set(seen["ids"][:3]), set(seen["ids"][3:])
    assert len(uids) == len(gids) == 1
    assert min(uids) > min(gids) >= 200_000
    assert set(seen["groups"]) <= gids
    assert seen["read"]["/proc/1/environ"] == "Permission denied"
    assert set(seen["read"].values()) <= {"Permission denied", "Input/output error"}
    assert [seen[what] for what in ("image", "SCOREGATE_EVENTS", "HOME")] == ["Permission denied"] * 3
    forbidden = ("INPUT_", "ACTIONS_", "GITHUB_TOKEN", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE",
                 "GITHUB_STEP_SUMMARY", "COPY_OF_IT")  # fmt: skip
    assert [name for name in seen["environ"] if name.startswith(forbidden)] == []
    assert seen["environ"]["OPENAI_API_KEY"] == "sk-theirs-0123456789"
    assert TOKEN not in json.dumps(seen)
    assert seen["environ"]["HOME"] != "/github/home"


def test_a_suite_does_not_reach_docker(action: Action, project: Project, tmp_path: Path) -> None:
    project.write("evals/demo.py", suite(SPY))
    change_owner(project.root, OWNER)
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        path.chmod(0o660)
        os.chown(path, 0, OWNER)
        mounts = ["-v", f"{path}:/var/run/docker.sock", "-v", f"{project.root}:{WORKSPACE}"]
        podman("run", "--rm", "--workdir", WORKSPACE, "-e", f"GITHUB_WORKSPACE={WORKSPACE}", *mounts, action.image)
    assert read_findings(project)["docker"] == "Permission denied"


def test_the_host_imports_nothing_of_the_workspace(action: Action, project: Project) -> None:
    for name in ("click.py", "src/anyio.py", "scoregate/__init__.py", "sitecustomize.py", "src/pydantic/__init__.py"):
        project.write(name, "open('imported-by-' + str(__import__('os').getuid()), 'w')\n")
    project.write("evals/suite.sh", "true\n")
    project.write("scoregate.toml", "commands = [{ name = 'shell', run = 'sh evals/suite.sh' }]\n")
    change_owner(project.root, OWNER)
    result = action.run(project.root, env={"PYTHONPATH": f"{project.root}/src", "PYTHONSTARTUP": "click.py"})
    assert result.exit_code == 3, result.log  # nothing was measured, and nothing worse
    assert not list(project.root.glob("imported-by-0"))


def test_git_runs_no_suite_configuration_as_root(action: Action, project: Project) -> None:
    project.write("evals/demo.py", suite())
    project.write("text.txt", "one\n")
    project.write(".gitattributes", "text.txt filter=spy\n")
    project.commit()
    spy = "cd /github/workspace; id -u >> who; env >> seen; cat /proc/1/environ >> leaked 2>/dev/null; cat"
    for kind in ("clean", "smudge"):
        project.git("config", f"filter.spy.{kind}", f"sh -c '{spy}'")
    project.git("config", "core.fsmonitor", "sh -c 'id -u >> /github/workspace/who'")
    project.write("text.txt", "two\n")
    change_owner(project.root, OWNER)
    result = action.run(project.root, {"baseline": "rerun:HEAD"})
    assert result.exit_code == 0, result.log
    assert min(map(int, (project.root / "who").read_text().split())) > 200_000
    assert {path.lstat().st_uid for path in project.root.rglob("*")} == {OWNER}
    assert (project.root / "leaked").read_text() == ""
    assert TOKEN not in (project.root / "seen").read_text()


def test_an_inaccessible_daemon_of_a_suite_is_ended(action: Action, project: Project) -> None:
    interval = "import time\nwhile True:\n    open('beat', 'a').write('x')\n    time.sleep(0.1)\n"
    start = f"subprocess.Popen([sys.executable, '-c', {interval!r}], start_new_session=True)"
    project.write("evals/a_first.py", suite(f"import subprocess, sys, time\n{start}\ntime.sleep(300)"))
    watch = (
        "import os, time\n"
        "def fn(case):\n"
        "    before = os.path.getsize('beat')\n"
        "    time.sleep(1)\n"
        "    return case.input if os.path.getsize('beat') == before > 0 else 'it beats'"
    )
    project.write("evals/b_second.py", suite(watch, fn="fn").replace("'demo'", "'second'"))
    change_owner(project.root, OWNER)
    result = action.run(project.root, {"timeout": "12", "max-suites": "1"})
    assert result.exit_code == 3, result.log
    second = next(s for s in Ran(0, "", project.root / "scoregate-out").run["suites"] if s["id"] == "second")
    assert second["statuses"]["passed"] == 3


@pytest.mark.parametrize("signal", ["INT", "TERM"])
def test_a_cancelled_job_leaves_its_record(action: Action, project: Project, signal: str) -> None:
    body = (
        f"{WAIT_FOR_SCORES}"
        "def fn(case):\n"
        "    if case.input == 'good 1':\n"
        "        wait_for_scores(1)\n"
        "        open('waiting', 'w')\n"
        "        time.sleep(300)\n"
        "    return case.input"
    )
    project.write("evals/demo.py", suite(body, fn="fn", max_test_case_concurrency="1"))
    change_owner(project.root, OWNER)
    results: list[Any] = []
    step = threading.Thread(target=lambda: results.append(action.run(project.root)))
    step.start()
    while not (project.root / "waiting").exists():
        assert step.is_alive()
        time.sleep(0.05)
    subprocess.run(["podman", "kill", "--signal", signal, action.container(project.root)], check=True)
    step.join(90)
    assert not step.is_alive(), "the runner waits 7.5 s, which takes 1 to 3 on a machine at rest"
    assert results[0].exit_code == 130
    outcome = Ran(130, "", project.root / "scoregate-out")
    assert outcome.run["complete"] is False
    assert outcome.statuses["passed"] == 1
    assert b"good 0" in gzip.decompress((outcome.out / "run" / "cases.jsonl.gz").read_bytes())
    assert {path.lstat().st_uid for path in outcome.out.rglob("*")} == {OWNER}
