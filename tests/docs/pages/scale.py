"""The files for runners and the commands for Dask: they are valid, and run as the runner would start them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any
from zipfile import ZipFile

import jsonschema
import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema
from tests.docs.page import Block
from tests.docs.project import Project

ANSWERS = """
from scoregate import evaluate
from scoregate.scorers import equals

rows = [{"id": f"row {n}", "input": f"question {n}", "expected": f"QUESTION {n}"} for n in range(40)]
evaluate("answers", data=rows, task=lambda input: input.upper(), scorers=[equals()])
"""
GREETING = """
from scoregate import evaluate
from scoregate.scorers import equals

evaluate("greeting", data=[{"input": "hi", "expected": "hi"}], task=lambda input: input, scorers=[equals()])
"""
# The 61st call kills scoregate, as when memory runs out.
SLOW = """
import os
import signal
import time
from pathlib import Path

from scoregate import evaluate
from scoregate.scorers import equals

killed = Path("results/killed")

def answer(input):
    time.sleep(0.05)
    if input == "message 60" and not killed.exists():
        killed.parent.mkdir(exist_ok=True)
        killed.write_text("")
        os.kill(os.getppid(), signal.SIGKILL)
    return input

rows = [{"input": f"message {n}", "expected": f"message {n}"} for n in range(100)]
evaluate("slow", data=rows, task=answer, scorers=[equals()], concurrency=2)
"""


def prepare(project: Project) -> None:
    """Two suites, and a baseline in which one of them took long."""
    project.write("evals/eval_answers.py", ANSWERS)
    project.write("evals/eval_greeting.py", GREETING)
    project.write(".gitignore", "base\nresults\nscoregate-out\n")
    commit(project)
    outcome = project.run(["scoregate", "run", "--baseline", "none", "--out", "base"])
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    path = project.folder / "base/run/run.json"
    head = json.loads(path.read_text(encoding="utf-8"))
    for suite in head["suites"]:
        suite["duration_s"] = 900.0 if suite["id"] == "answers" else 100.0
    for script in head["scripts"]:
        script["duration_s"] = 901.0 if "answers" in script["name"] else 101.0
    path.write_text(json.dumps(head), encoding="utf-8")


def commit(project: Project) -> None:
    outcome = project.run(["bash", "-ec", "git add -A && git commit --quiet -m Suites"])
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def check_resume(project: Project, block: Block) -> str:
    """Kill a run, show what it measured, and continue it."""
    project.write("evals/eval_slow.py", SLOW)
    commit(project)
    killed = project.run(["bash", "-c", "scoregate run"])
    assert killed.returncode != 0, killed.stdout
    shown = project.run(["scoregate", "report", "--recover"])
    assert "slow" in shown.stdout, shown.stdout + shown.stderr
    outcome = project.run(["bash", "-ec", block.text])
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "results were reused" in outcome.stdout, outcome.stdout
    return outcome.stdout


def run_shards(project: Project, script: str, numbers: dict[str, str], **variables: str) -> str:
    """Run a runner's script for three shards, and merge them."""
    results = project.folder / "elsewhere"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    shutil.copy(project.folder / "results/partition.json", results)
    shutil.copytree(project.folder / "base", results / "base")
    for number in range(1, 4):
        own = {name: str(number + int(offset)) for name, offset in numbers.items()}
        settings = [f"{name}={value}" for name, value in {**own, **variables, "RESULTS": str(results)}.items()]
        outcome = project.run(["env", *settings, "bash", "-ec", script])
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
        assert f"Shard {number} of 3: complete" in outcome.stdout
    merged = project.run(["bash", "-ec", f"scoregate merge {results}/[0-9] --baseline base --out {results}/merged"])
    assert merged.returncode == 0, merged.stdout + merged.stderr
    return merged.stdout


def check_gitlab(project: Project, block: Block) -> str:
    """Run the scripts of all jobs, as GitLab would; its API has an artifact of the branch `release/1` only."""
    loaded = yaml.safe_load(block.text)
    jsonschema.validate(json.loads(json.dumps(loaded)), get_builtin_schema("vendor.gitlab-ci"))
    base, stored = project.folder / "base", project.folder / "stored"
    base.rename(stored)
    with serve_artifact(stored) as address:
        for branch, note in (("main", "Baseline: none"), ("release/1", ", stored run")):
            variables = {
                "CI_API_V4_URL": address,
                "CI_PROJECT_ID": "7",
                "CI_JOB_TOKEN": "the-token-of-a-job",
                "CI_DEFAULT_BRANCH": "main",
                "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": branch if branch != "main" else "",
            }
            merged = run_gitlab_jobs(project, loaded, variables)
            assert "merged from 4 of 4 shards" in merged
            assert (base / "scoregate-out" / "run" / "run.json").is_file() is (branch != "main")
            assert note in (project.folder / "scoregate-out" / "comment.md").read_text(encoding="utf-8")
    shutil.rmtree(base)
    stored.rename(base)
    planned = project.run(
        ["bash", "-ec", "rm -r results; scoregate plan --shards 3 --baseline base --output results/partition.json"]
    )
    assert planned.returncode == 0
    return merged


def run_gitlab_jobs(project: Project, loaded: dict[str, Any], variables: dict[str, str]) -> str:
    """Run the scripts of all jobs; returns what the last one printed."""
    shutil.rmtree(project.folder / "results", ignore_errors=True)
    before = [line for line in loaded["default"]["before_script"] if not line.startswith("pip ")]
    for job, numbers in (("plan", [1]), ("shards", range(1, loaded["shards"]["parallel"] + 1)), ("merge", [1])):
        for number in numbers:
            own = {**variables, "CI_NODE_INDEX": str(number), "CI_NODE_TOTAL": "4"}
            lines = [f"export {name}={shlex.quote(value)}" for name, value in own.items()]
            outcome = project.run(["bash", "-ec", "\n".join([*lines, *before, *loaded[job]["script"]])])
            assert outcome.returncode == 0, f"{job}: {outcome.stdout}{outcome.stderr}"
    return outcome.stdout


@contextmanager
def serve_artifact(folder: Path) -> Iterator[str]:
    """Serve the artifact of a job of the branch `release/1`, as GitLab does; yields the address of the API."""
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        for path in folder.rglob("*"):
            archive.write(path, f"scoregate-out/{path.relative_to(folder)}")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_there = self.path == "/projects/7/jobs/artifacts/release%2F1/download?job=merge"
            self.send_response(200 if is_there and self.headers["JOB-TOKEN"] == "the-token-of-a-job" else 404)
            self.end_headers()
            self.wfile.write(content.getvalue() if is_there else b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def check_slurm(project: Project, block: Block) -> str:
    """Check the options of the array and run the script."""
    first, *lines = block.text.splitlines()
    assert first == "#!/bin/bash"
    options = [line for line in lines if line.startswith("#SBATCH ")]
    assert lines[: len(options)] == options  # sbatch reads no option after the first command
    assert "#SBATCH --array=1-3" in options
    return run_shards(project, block.text, {"SLURM_ARRAY_TASK_ID": "0"}, SLURM_ARRAY_TASK_COUNT="3")


def check_dask(project: Project, block: Block) -> str:
    """Run the commands on a cluster of this machine, and on a scheduler and a worker that speak TLS."""
    pytest.importorskip("distributed", reason="needs scoregate[dask]")
    folder = project.folder.parent / "dask"
    folder.mkdir()
    project.environment |= write_certificates(folder)
    text = block.text
    with ExitStack() as processes:

        def start(command: str, *words: str) -> None:
            argv = [sys.executable, "-m", "dask", command, "--host", "127.0.0.1", "--no-dashboard", *words]
            argv += ["--scheduler-file", str(folder / "scheduler.json"), "--protocol", "tls"]
            with (folder / f"{command}.log").open("wb") as log:
                environment = {**os.environ, **project.environment}
                process = subprocess.Popen(argv, cwd=folder, env=environment, stdout=log, stderr=log)
            processes.callback(process.wait)
            processes.callback(process.kill)

        start("scheduler", "--port", "0")
        start("worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(folder / "worker"))
        limit = time.monotonic() + 60
        file = folder / "scheduler.json"
        while not file.exists() or not file.stat().st_size:  # Dask creates it before it writes it
            assert time.monotonic() < limit, (folder / "scheduler.log").read_text(encoding="utf-8")
            time.sleep(0.1)
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
        assert address.startswith("tls://")
        assert text.count("tls://dask.example.com:8786") == 1
        outcome = project.run(["bash", "-ec", text.replace("tls://dask.example.com:8786", address)])
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert outcome.stdout.count("note: ran in ") == outcome.stdout.count("41 of 41 pass") == 2, outcome.stdout
    return outcome.stdout


def write_certificates(folder: Path) -> dict[str, str]:
    """Write certificates of a cluster; returns the variables of Dask's settings that name them."""
    from distributed.security import Security

    temporary = Security.temporary()
    variables = {}
    for name in (
        "ca_file",
        *(f"{who}_{what}" for who in ("client", "scheduler", "worker") for what in ("cert", "key")),
    ):
        path = folder / name
        path.write_text(getattr(temporary, f"tls_{name}"), encoding="utf-8")
        setting = name.upper() if name == "ca_file" else name.upper().replace("_", "__")
        variables[f"DASK_DISTRIBUTED__COMM__TLS__{setting}"] = str(path)
    return variables
