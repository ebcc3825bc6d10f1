"""The runner protocol of docs/guides/scale.md, as a runner drives it that only knows that page: commands and files."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

from jsonschema import Draft202012Validator
from tests.integration.host.conftest import Project
from tests.integration.host.test_kills import flushed_cases

SCHEMA = Path(__file__).parents[3] / "docs" / "partition.schema.json"
# Every call leaves a line. Without the file `free`, the 16th call waits, so that a shard can be killed half-way.
SUITE = """
import os, time
from pathlib import Path
from scoregate import evaluate

calls = Path(os.environ["CALLS"])

def answer(input):
    with (calls / "calls").open("a") as file:
        file.write(input + "\\n")
    if not (calls / "free").exists() and len((calls / "calls").read_text().splitlines()) > 15:
        time.sleep(300)
    return input.upper()

def is_upper(output, expected):
    return float(output == expected)

rows = [{"id": f"row {n}", "input": f"q{n}", "expected": f"Q{n}"} for n in range(60)]
evaluate("answers", data=rows, task=answer, scorers=[is_upper], concurrency=1)
"""


def start(project: Project, *words: str, calls: Path) -> subprocess.Popen[str]:
    return project.start(*words, CALLS=str(calls))


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    output, _ = process.communicate(timeout=180)
    return process.returncode, output


def read_calls(calls: Path) -> list[str]:
    path = calls / "calls"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def test_a_runner_kills_repeats_and_doubles_shards_and_counts_every_case_once(project: Project, tmp_path: Path) -> None:
    calls = tmp_path / "outside"
    calls.mkdir()
    (calls / "free").write_text("")
    project.write("evals/eval_answers.py", SUITE)
    project.write(".gitignore", "scoregate-out\nbase\nresults\noutside\n")
    project.commit()
    assert project.scoregate("run", "--baseline", "none", "--out", "base", CALLS=str(calls)).exit_code == 0
    head = json.loads((project.root / "base/run/run.json").read_text(encoding="utf-8"))
    head["suites"][0]["duration_s"] = head["scripts"][0]["duration_s"] = 100.0
    (project.root / "base/run/run.json").write_text(json.dumps(head), encoding="utf-8")

    arguments = ("--baseline", "base", "--shards", "2", "--output", "results/p.json")
    plan = finish(start(project, "plan", *arguments, calls=calls))
    assert plan[0] == 0, plan[1]
    partition = json.loads((project.root / "results/p.json").read_text(encoding="utf-8"))
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(partition)
    parts = [[each["part"] for each in shard["assignments"] if each["suite"]] for shard in partition["shards"]]
    assert parts == [[1], [2]]

    def run(number: int, folder: str) -> subprocess.Popen[str]:
        out = f"results/{partition['fingerprint']}/{folder}"
        shard = ("--shard", f"{number}/2", "--partition", "results/p.json")
        return start(project, "run", *shard, "--baseline", "base", "--out", out, "--json", calls=calls)

    (calls / "free").unlink()
    (calls / "calls").unlink()
    process = run(1, "1")
    while len(read_calls(calls)) < 16 or len(flushed_cases(project, "results/*/1")) < 15:
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    process.kill()
    finish(process)
    unfinished = finish(start(project, "merge", "--baseline", "base", "results/*/*", calls=calls))
    assert unfinished[0] == 3, unfinished[1]

    (calls / "free").write_text("")
    retried = finish(run(1, "1"))
    assert retried[0] == 0, retried[1]
    assert len(read_calls(calls)) == 31  # 30 cases; those that were finished when it was killed did not run again
    before = len(read_calls(calls))
    second = finish(run(1, "1"))
    assert second[0] == 0
    assert '"reused": true' in second[1]
    assert len(read_calls(calls)) == before

    twins = [run(2, "2"), run(2, "2-again")]  # a queue that delivers at least once
    assert [finish(twin)[0] for twin in twins] == [0, 0]
    merged = finish(start(project, "merge", "--baseline", "base", "--json", "results/*/*", calls=calls))
    assert merged[0] == 0, merged[1]
    record = json.loads((project.root / "scoregate-out/run/run.json").read_text(encoding="utf-8"))
    assert [(suite["cases"], suite["planned"], suite["complete"]) for suite in record["suites"]] == [(60, 60, True)]
    assert record["complete"]
