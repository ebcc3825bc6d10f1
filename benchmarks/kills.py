"""Kill `scoregate run` with SIGKILL at random moments, and count what is lost. Standard library only.

    python benchmarks/kills.py [KILLS] [SEED] [MILLISECONDS]

Each run has two scripts, ten cases at a time of each, that take so many milliseconds (20). After the kill, the event
logs of the scripts show which cases had finished; `scoregate report --recover` makes a run of what was flushed.
Exits with 1 if a flushed case is lost, a case that finished more than a second before the kill is lost, a process
survives, or an older run is judged instead.
"""

import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SUITE = """
import asyncio, os, subprocess, sys
from scoregate.testing.models import BaseTestEvaluator, Evaluation, Threshold
from scoregate.testing.run import run_test_suite

class Exact(BaseTestEvaluator):
    id = "exact"
    def evaluate_test_case(self, test_case, output):
        return Evaluation(score=1.0, threshold=Threshold(gte=1))

async def ask(case):
    await asyncio.sleep(float(os.environ["KILLS_MS"]) / 1000)
    return case["q"]

if not os.environ.get("KILLS_SHORT"):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True, env={})
count = 5 if os.environ.get("KILLS_SHORT") else 20_000
cases = [{"q": f"NAME {number}"} for number in range(count)]
run_test_suite(id="NAME", test_cases=cases, fn=ask, evaluators=[Exact()], test_case_hash=["q"])
"""
LATE_S = 1.0


@dataclass(frozen=True)
class Killed:
    """One kill: cases that had finished, were flushed, and were recovered, and the age of the oldest that is lost."""

    after_s: float
    finished: int
    flushed: int
    recovered: int
    lost_flushed: int
    oldest_lost_s: float
    survivors: int
    gate_exit_code: int


def main() -> int:
    """Kill as often as asked, and print a line for each kill and the sums."""
    kills, seed, each_ms = (int(word) for word in (*sys.argv[1:], *("30", "1", "20")[len(sys.argv) - 1 :]))
    os.environ["KILLS_MS"] = str(each_ms)
    moments = random.Random(seed)
    home = Path(tempfile.mkdtemp(prefix="scoregate-kills-"))
    try:
        project = make_project(home)
        found = [kill_once(project, home, moments.uniform(0.0, 5.0)) for _ in range(kills)]
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print(f"\n{kills} kills: {sum(each.finished for each in found):,} cases had finished")
    print(f"  flushed by the host        {sum(each.flushed for each in found):,}")
    print(f"  flushed and lost           {sum(each.lost_flushed for each in found)}")
    print(f"  not flushed yet, and lost  {sum(each.finished - each.recovered for each in found):,}")
    print(f"  the oldest of these        {max(each.oldest_lost_s for each in found):.2f} s before the kill")
    print(f"  processes that survived    {sum(each.survivors for each in found)}")
    print(f"  an older run was judged    {sum(each.gate_exit_code != 3 for each in found)}")
    bad = (each.lost_flushed or each.survivors or each.gate_exit_code != 3 for each in found)
    return int(any(bad) or max(each.oldest_lost_s for each in found) > LATE_S)


def make_project(home: Path) -> Path:
    """Two scripts, and a finished run that passed."""
    project = home / "project"
    (project / "evals").mkdir(parents=True)
    for name in ("one", "two"):
        (project / "evals" / f"{name}.py").write_text(SUITE.replace("NAME", name))
    assert start(project, home, "run", KILLS_SHORT="1").wait() == 0
    return project


def start(project: Path, home: Path, *words: str, **environment: str) -> subprocess.Popen[bytes]:
    """Start the command line, with temporary files in a folder of this benchmark."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCOREGATE_")}
    (home / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "scoregate", *words],
        cwd=project,
        env={**kept, "TMPDIR": str(home / "tmp"), **environment},
        stdout=subprocess.PIPE if words[0] == "report" else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_once(project: Path, home: Path, after_s: float) -> Killed:
    """Run, kill, and recover."""
    shutil.rmtree(home / "tmp", ignore_errors=True)
    host = start(project, home, "run")
    while host.poll() is None and not list((project / "scoregate-out" / "run").glob("in-progress-*")):
        time.sleep(0.01)
    time.sleep(after_s)
    children = descendants(host.pid)
    host.kill()
    moment = time.time()
    host.wait()
    survivors = wait_for_end(children)
    gate = start(project, home, "gate", "scoregate-out").wait()
    finished = dict(finished_cases(home / "tmp", moment))
    flushed = set(flushed_cases(project))
    report = start(project, home, "report", "--recover", "--format", "json")
    report.communicate()
    recovered = set(recovered_cases(project))
    lost = [moment - at for case, at in finished.items() if case not in recovered]
    killed = Killed(
        after_s, len(finished), len(flushed), len(recovered), len(flushed - recovered), max(lost, default=0.0),
        survivors, gate,
    )  # fmt: skip
    print(killed, flush=True)
    return killed


def descendants(pid: int) -> list[int]:
    """Every process below one, and the host's watchdog with them."""
    found = [int(child) for task in Path(f"/proc/{pid}/task").glob("*") for child in read(task / "children").split()]
    return found + [each for child in found for each in descendants(child)]


def read(path: Path) -> str:
    """The text of a file; empty once it is gone."""
    try:
        return path.read_text()
    except OSError:
        return ""


def wait_for_end(pids: list[int]) -> int:
    """How many processes still run after five seconds."""
    left = pids
    for _ in range(100):
        left = [pid for pid in left if read(Path(f"/proc/{pid}/stat")).rpartition(")")[2][1:2] not in ("", "Z")]
        if not left:
            return 0
        time.sleep(0.05)
    return len(left)


def finished_cases(temporary: Path, moment: float) -> Iterator[tuple[str, float]]:
    """The cases that had finished before the kill, and when, as the scripts wrote it."""
    for path in temporary.glob("scoregate-events-*/events/*.jsonl"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            event = json.loads(line)
            if event["type"] == "case_finished" and event["time"] <= moment:
                yield event["case"], event["time"]


def flushed_cases(project: Path) -> Iterator[str]:
    """The cases in the file that the host was writing, as far as it can be unpacked."""
    for path in (project / "scoregate-out" / "run").glob("in-progress-*/cases.jsonl.gz"):
        text = zlib.decompressobj(31).decompress(path.read_bytes())
        yield from (json.loads(line)["hash"] for line in text.split(b"\n")[:-1])


def recovered_cases(project: Path) -> Iterator[str]:
    """The cases of the newest recovered run."""
    runs = sorted((project / "scoregate-out" / "interrupted").glob("*/cases.jsonl.gz"), key=os.path.getmtime)
    for path in runs[-1:]:
        yield from (json.loads(line)["hash"] for line in gzip.decompress(path.read_bytes()).splitlines())
        shutil.rmtree(path.parent)


if __name__ == "__main__":
    sys.exit(main())
