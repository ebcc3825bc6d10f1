"""Runs on a cluster: the verdict of one machine, although workers are killed, hang, or can't run a part."""

from __future__ import annotations

import ast
import gzip
import json
import os
import signal
import threading
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.features.cluster.cluster import LIMIT_S, Cluster
from tests.features.gateway.provider import Provider
from tests.integration.host.conftest import Project, Ran
from tests.integration.jobs.test_shards import COMMON, DURATIONS, plant, read_record
from tests.waiting import wait_until

from scoregate.features.cluster import dask, dispatch

pytest.importorskip("distributed", reason="needs scoregate[dask]")

SLOW_SUITE = """
import os, time
from pathlib import Path
from scoregate import evaluate

def answer(input):
    with open(os.environ["MARKS"], "a") as marks:
        marks.write(f"NAME {input}\\n")
    time.sleep(0.05)
    while input >= HOLD and not Path(os.environ["MARKS"] + ".free").exists():
        time.sleep(0.05)
    return input

def same(output, expected):
    return output == expected

rows = [{"id": str(n), "input": n, "expected": n if n % 10 else -1} for n in range(40)]
evaluate("NAME", data=rows, task=answer, scorers=[same], concurrency=1)
"""


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("marks") / "marks"


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.close()


@pytest.fixture
def cluster(started: Cluster, marks: Path) -> Cluster:
    """The scheduler with two workers that run; tests kill them."""
    alive = [worker for worker in started.workers if worker.is_running()]
    started.workers[:] = alive
    for _ in range(2 - len(alive)):
        started.add_worker(QUALITY="change", MARKS=str(marks))
    started.wait_for_workers(2)
    return started


def run(project: Project, cluster: Cluster, *words: str, **environment: str) -> Ran:
    return project.scoregate("run", "--executor", "dask", "--scheduler", cluster.address, *words, **environment)


def plant_slow(project: Project, marks: Path, *names: str, hold: int = 40) -> None:
    """Suites of 40 cases. Those from `hold` on wait until `let_go`."""
    marks.write_text("", encoding="utf-8")
    marks.with_name(f"{marks.name}.free").unlink(missing_ok=True)
    for name in names:
        project.write(f"evals/eval_{name}.py", SLOW_SUITE.replace("NAME", name).replace("HOLD", str(hold)))


def wait_for_held(project: Project, marks: Path, hold: int) -> None:
    """Wait until two suites wait at their case of this number, and the host has the results of those before."""
    wait_until(lambda: sum(call.endswith(f" {hold}") for call in read_calls(marks)) >= 2, LIMIT_S)
    wait_until(lambda: count_arrived(project) >= 2 * hold, LIMIT_S)


def count_arrived(project: Project) -> int:
    """The number of cases in the files that the host is writing."""
    paths = project.root.glob("scoregate-out/run/parts-*/*/in-progress-*/cases.jsonl.gz")
    return sum(zlib.decompressobj(31).decompress(path.read_bytes()).count(b"\n") for path in paths)


def let_go(marks: Path) -> None:
    marks.with_name(f"{marks.name}.free").touch()


def read_calls(marks: Path) -> Counter[str]:
    return Counter(marks.read_text(encoding="utf-8").split("\n")[:-1])


def read_cases(out: Path) -> Counter[tuple[int, str]]:
    lines = gzip.decompress((out / "run/cases.jsonl.gz").read_bytes()).splitlines()
    return Counter((case["suite"], case["hash"]) for case in map(json.loads, lines))


def test_a_run_on_workers_has_the_verdict_of_one_machine(project: Project, cluster: Cluster) -> None:
    plant(project)
    complete = project.scoregate("run", *COMMON, "--baseline", "base", "--out", "whole", QUALITY="change")
    outcome = run(project, cluster, *COMMON, "--baseline", "base", QUALITY="base")
    assert outcome.exit_code == complete.exit_code == 1, outcome.output
    notice = next(each for each in outcome.run["notices"] if each.startswith("ran in "))
    assert notice.endswith("parts on 2 workers")
    assert int(notice.split()[2]) > len(DURATIONS)
    assert read_record(project.root / "scoregate-out") == read_record(project.root / "whole")


def test_a_killed_worker_keeps_results_and_its_part_is_moved(project: Project, cluster: Cluster, marks: Path) -> None:
    plant_slow(project, marks, "one", "two", hold=35)
    victim = cluster.workers[0]

    def kill() -> None:
        wait_for_held(project, marks, 35)
        victim.kill()
        victim.wait()
        let_go(marks)

    killer = threading.Thread(target=kill)
    killer.start()
    outcome = run(project, cluster, "--baseline", "none")
    killer.join()
    assert outcome.exit_code == 1, outcome.output
    assert [(suite["statuses"]["passed"], suite["statuses"]["failed"]) for suite in outcome.run["suites"]] == [
        (36, 4)
    ] * 2
    assert set(read_cases(outcome.out).values()) == {1}
    assert len(read_cases(outcome.out)) == 80
    assert "1 attempt of parts ended early: the worker ended" in outcome.output
    # Only what had not arrived at the host ran twice.
    assert 1 <= sum(number > 1 for number in read_calls(marks).values()) < 25


def test_a_part_of_a_hanging_worker_is_moved(
    project: Project, cluster: Cluster, marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "_SILENT_S", 4.0)
    plant_slow(project, marks, "one", "two", hold=12)
    victim = cluster.workers[1]

    def stop() -> None:
        wait_for_held(project, marks, 12)
        os.kill(victim.pid, signal.SIGSTOP)
        let_go(marks)

    stopper = threading.Thread(target=stop)
    stopper.start()
    outcome = run(project, cluster, "--baseline", "none")
    stopper.join()
    victim.kill()
    victim.wait()
    assert outcome.exit_code == 1, outcome.output
    assert len(read_cases(outcome.out)) == 80
    assert set(read_cases(outcome.out).values()) == {1}
    assert "it did not report anything for 4 s" in outcome.output


def test_a_part_that_no_worker_can_run_is_unmeasurable(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "_WAIT_REFUSED_S", 1.0)
    older = tmp_path / "older.py"
    older.write_text("import scoregate\nscoregate.__version__ = '0.0.1'\n", encoding="utf-8")
    cluster = Cluster(tmp_path)
    cluster.add_worker("--preload", str(older))
    project.write("evals/eval_a.py", SLOW_SUITE)
    try:
        outcome = run(project, cluster, "--baseline", "none")
    finally:
        cluster.close()
    assert outcome.exit_code == 3, outcome.output
    error = outcome.run["scripts"][0]["error"]
    assert "no worker can run it" in error["message"]
    assert "it has scoregate 0.0.1, and this machine" in error["message"]


def test_a_missing_package_moves_a_suite(project: Project, cluster: Cluster, marks: Path, tmp_path: Path) -> None:
    package = tmp_path / "elsewhere"
    package.mkdir()
    seen = package / "seen"
    text = f"from pathlib import Path\nFILE = Path({str(seen)!r})\n"
    (package / "only_there.py").write_text(text, encoding="utf-8")
    project.write(
        "evals/eval_a.py",
        "import os, only_there\nfrom pathlib import Path\nfrom scoregate import evaluate\n"
        "names = ('SCOREGATE_MAX_COST', 'SCOREGATE_SPENT', 'OF_THIS_MACHINE')\n"
        "only_there.FILE.write_text(str([os.environ.get(name) for name in names]))\n"
        "evaluate('a', data=[{'input': 1}], task=lambda input: 1, scorers=[lambda output: 1.0])\n",
    )
    lacking = run(project, cluster, "--baseline", "none")
    assert lacking.exit_code == 3, lacking.output
    assert "No module named 'only_there'" in lacking.run["scripts"][0]["error"]["message"]
    cluster.add_worker(PYTHONPATH=str(package), QUALITY="change", MARKS=str(marks))
    cluster.wait_for_workers(3)
    outcome = run(project, cluster, "--baseline", "none", "--max-cost", "9", OF_THIS_MACHINE="sk-of-this-machine")
    assert outcome.run["suites"][0]["statuses"]["scored"] == 1, outcome.output
    max_cost, spent, of_this_machine = ast.literal_eval(seen.read_text(encoding="utf-8"))
    assert max_cost == "9.0"
    assert "scoregate-part-" in spent
    assert of_this_machine is None


MODEL_SUITE = """
import json, os, urllib.request
from scoregate import evaluate

def answer(input):
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": f"NAME {input}"}], "max_tokens": 5}
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"},
    )
    return json.load(urllib.request.urlopen(request, timeout=60))["choices"][0]["message"]["content"]

def has_no_key(output):
    return not any("sk-real" in value for value in os.environ.values())

answer("-")
evaluate("NAME", data=[{"input": n} for n in range(10)], task=answer, scorers=[has_no_key])
"""


def test_calls_of_all_workers_pass_one_gateway(project: Project, cluster: Cluster, provider: Provider) -> None:
    for name in ("one", "two"):
        project.write(f"evals/eval_{name}.py", MODEL_SUITE.replace("NAME", name))
    model = {"OPENAI_API_KEY": "sk-real-key-0123456789", "OPENAI_BASE_URL": f"{provider.url}/v1"}
    arguments = ("--gateway", "on", "--baseline", "none")
    outcome = run(project, cluster, *arguments, "--max-tokens", "10000", **model)
    assert outcome.exit_code == 0, outcome.output
    assert sum(each["calls"] for each in outcome.run["model_calls"]) == 22
    assert [suite["usage"]["input_tokens"] > 0 for suite in outcome.run["suites"]] == [True, True]  # of the first call
    assert {each["suite"] for each in outcome.run["model_calls"]} == {"evals/eval_one.py", "evals/eval_two.py"}
    spent = run(project, cluster, *arguments, "--max-tokens", "100", "--cache", "off", **model)
    assert spent.exit_code in (1, 3), spent.output
    assert "the budget is spent" in spent.output
    tokens = sum(each["input_tokens"] + each["output_tokens"] for each in spent.run["model_calls"])
    assert 0 < tokens <= 100


def test_a_run_whose_host_is_killed_can_be_recovered_and_resumed(
    project: Project, cluster: Cluster, marks: Path
) -> None:
    plant_slow(project, marks, "one", "two", "three", hold=35)
    project.commit("suites")
    arguments = ("run", "--executor", "dask", "--scheduler", cluster.address, "--baseline", "none")
    host = project.start(*arguments)
    wait_for_held(project, marks, 35)
    host.kill()
    host.communicate()
    wait_until(lambda: not any(map(cluster.runs_suite, cluster.workers)), LIMIT_S)
    arrived = sum(read_calls(marks).values())
    judged = project.scoregate("gate", "scoregate-out")
    assert judged.exit_code == 3, judged.output
    assert "before the results of its parts were merged" in judged.output
    let_go(marks)
    outcome = run(project, cluster, "--baseline", "none", "--resume")
    assert outcome.exit_code == 1, outcome.output
    assert [sum(suite["statuses"].values()) for suite in outcome.run["suites"]] == [40] * 3
    assert set(read_cases(outcome.out).values()) == {1}
    (notice,) = (each for each in outcome.run["notices"] if "results were reused from" in each)
    assert int(notice.split()[0]) >= arrived - 30
    # What was reused did not run again. The workers stopped a moment after the host.
    assert sum(read_calls(marks).values()) <= 120 + arrived - int(notice.split()[0]) + 20
    assert not list((outcome.out / "run").glob("parts-*"))
    (recovered,) = (outcome.out / "interrupted").glob("*/run.json")
    head = json.loads(recovered.read_text(encoding="utf-8"))
    assert not head["complete"]
    recovered_cases = sum(sum(suite["statuses"].values()) for suite in head["suites"])
    assert recovered_cases == int(notice.split()[0]), outcome.run["notices"]
    assert project.scoregate("gate", str(recovered.parent)).exit_code in (1, 3)


def test_the_end_of_the_scheduler_ends_the_run_like_a_signal(project: Project, cluster: Cluster, marks: Path) -> None:
    plant_slow(project, marks, "one", "two", hold=15)

    def kill() -> None:
        wait_for_held(project, marks, 15)
        cluster.scheduler.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    outcome = run(project, cluster, "--baseline", "none")
    killer.join()
    let_go(marks)
    assert outcome.exit_code == 130, outcome.output
    assert not outcome.run["complete"]
    assert outcome.run["stopped"] == "the connection to the scheduler was lost"
    assert sum(sum(suite["statuses"].values()) for suite in outcome.run["suites"]) >= 10


def test_a_cluster_on_this_machine_stops_at_the_first_failure(project: Project, marks: Path) -> None:
    plant_slow(project, marks, "alone", hold=20)  # workers of an earlier test may still write their names
    outcome = project.scoregate(
        "run", "--executor", "dask", "--max-suites", "1", "--baseline", "none", "-x", MARKS=str(marks)
    )
    assert outcome.exit_code == 1, outcome.output
    assert "failed; cases that had not started did not run" in outcome.output
    assert 1 <= sum(call.startswith("alone ") for call in read_calls(marks)) < 40


def test_a_failing_case_in_quarantine_stops_no_part(project: Project, marks: Path) -> None:
    plant_slow(project, marks, "kept")
    entry = '[[quarantine]]\nsuite = "kept"\ncase = "*0"\nowner = "bo"\nreason = "the clock"\nuntil = 2999-12-31\n'
    project.write(".scoregate/quarantine.toml", entry)
    words = ("run", "--executor", "dask", "--max-suites", "1", "--baseline", "none", "-x")
    outcome = project.scoregate(*words, MARKS=str(marks))
    assert outcome.exit_code == 0, outcome.output
    assert len(read_cases(outcome.out)) == 40


def test_options_that_exclude_an_executor_are_refused(project: Project) -> None:
    project.write("evals/eval_a.py", SLOW_SUITE)
    dask_words = ("run", "--executor", "dask", "--baseline", "none")
    cases = {
        ("--shard", "1/2"): "--shard and --executor exclude each other",
        ("--watch",): "--watch and --executor exclude each other",
        ("--scheduler", "tcp://127.0.0.1:9"): "no scheduler of Dask can be reached at tcp://127.0.0.1:9",
        ("--gateway", "on", "--scheduler", "tls://dask.example.com:8786"): "the gateway listens on this machine only",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask, "_CONNECT_S", 1.0)
        for words, message in cases.items():
            outcome = project.scoregate(*dask_words, *words)
            assert (outcome.exit_code, message in outcome.output) == (2, True), outcome.output
    alone = project.scoregate("run", "--scheduler", "tcp://127.0.0.1:9", "--baseline", "none")
    assert "--scheduler needs an executor with a scheduler" in alone.output
    project.write("scoregate.toml", 'scheduler = "tls://attacker.example.com:8786"\n')
    in_file = project.scoregate("run", "--baseline", "none")
    assert in_file.exit_code == 2
    assert "a change must not choose where code runs" in in_file.output
