"""Kill a scheduler and four workers of Dask at random, and check what each run concludes. Needs scoregate[dask].

    python benchmarks/cluster_chaos.py [SECONDS] [SEED]

A `dask scheduler` and four `dask worker` processes run on this machine. Every one to four seconds, one of them is
killed with SIGKILL and started again: a worker process, a worker with its nanny, or the scheduler. Meanwhile `scoregate
run` runs again and again on them, in turn with suites in which every tenth case fails and with suites that pass.

A run may end with the verdict of one machine and every result once. After the scheduler died, it may end as on SIGTERM:
exit code 130, incomplete, with results that are all right and no two of them the same. It may also find no scheduler
(exit code 2). Exits with 1 if any run ends in another way.
"""

import gzip
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from cluster import SUITE, WORKERS, list_workers

SUITES, CASES, PAUSE_S = 8, 60, 0.05
_SIGTERM_CODE, _NO_SCHEDULER = 130, 2


@dataclass
class Cluster:
    """A scheduler and workers, each started again when it ends. `log` prints a line."""

    folder: Path
    log: Callable[[str], None]
    port: int = 0
    scheduler: subprocess.Popen[bytes] = field(init=False)
    nannies: list[subprocess.Popen[bytes]] = field(default_factory=list)
    killed: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.port = taken.getsockname()[1]
        self.scheduler = self._start_scheduler()
        self.nannies = [self._start_worker() for _ in range(WORKERS)]

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        with (self.folder / "cluster.log").open("ab") as log:
            command = [sys.executable, "-m", "dask", *words]
            return subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, start_new_session=True)

    def _start_scheduler(self) -> subprocess.Popen[bytes]:
        return self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def _start_worker(self) -> subprocess.Popen[bytes]:
        options = ("--nthreads", "1", "--memory-limit", "0", "--host", "127.0.0.1", "--no-dashboard")
        local = tempfile.mkdtemp(prefix="worker-", dir=self.folder)
        return self._start("worker", self.address, *options, "--death-timeout", "60", "--local-directory", local)

    def restart_ended(self) -> None:
        """Start what has ended again."""
        if self.scheduler.poll() is not None:
            self.scheduler = self._start_scheduler()
        for number, nanny in enumerate(self.nannies):
            if nanny.poll() is not None:
                self.nannies[number] = self._start_worker()

    def kill_one(self, chance: random.Random) -> None:
        """Kill a process of the cluster."""
        what = chance.choices(("worker", "worker with its nanny", "scheduler"), (70, 15, 15))[0]
        try:
            if what == "scheduler":
                process = psutil.Process(self.scheduler.pid)
            elif what == "worker":
                process = chance.choice(list_workers([each.pid for each in self.nannies]))
            else:
                process = psutil.Process(chance.choice(self.nannies).pid)
                for child in process.children():
                    child.kill()
            process.kill()
        except (psutil.Error, IndexError):  # it ended by itself a moment ago
            return
        self.killed[what] += 1
        self.log(f"killed {what}")

    def close(self) -> None:
        for each in (*self.nannies, self.scheduler):
            try:
                for child in psutil.Process(each.pid).children(recursive=True):
                    child.kill()
            except psutil.Error:
                pass
            each.kill()
            each.wait()


def kill_regularly(cluster: Cluster, is_over: threading.Event, seed: int) -> None:
    chance = random.Random(seed)
    while not is_over.wait(chance.uniform(1.0, 4.0)):
        cluster.kill_one(chance)
        # As a supervisor of services does, after a moment.
        if is_over.wait(chance.uniform(0.2, 1.0)):
            return
        cluster.restart_ended()


def write_project(project: Path, *, fails: bool) -> None:
    (project / "evals").mkdir(parents=True)
    for number in range(SUITES):
        text = SUITE.format(pause=PAUSE_S, cases=CASES, name=f"suite {number}")
        text = text if fails else text.replace("n if n % 10 else -1", "n")
        (project / f"evals/eval_{number}.py").write_text(text)


def read_results(out: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    head = json.loads((out / "run/run.json").read_text())
    lines = gzip.decompress((out / "run/cases.jsonl.gz").read_bytes()).splitlines()
    return head, [json.loads(line) for line in lines]


def find_problems(out: Path, exit_code: int, *, fails: bool) -> Iterator[str]:
    """What is wrong with how a run ended."""
    if exit_code not in (int(fails), _SIGTERM_CODE):
        yield f"exit code {exit_code}"
        return
    head, cases = read_results(out)
    names = [suite["id"] for suite in head["suites"]]
    found = Counter((names[case["suite"]], case["hash"], case.get("repeat", 0)) for case in cases)
    if twice := sum(number > 1 for number in found.values()):
        yield f"{twice} results are there twice"
    statuses = Counter[str]()
    for suite in head["suites"]:
        statuses.update(suite["statuses"])
    finished = statuses["passed"] + statuses["failed"]
    most_failed = SUITES * len(range(0, CASES, 10)) if fails else 0
    if exit_code == _SIGTERM_CODE:
        if head["complete"] or not head["stopped"]:
            yield f"it was stopped, but its record has complete: {head['complete']}, stopped: {head['stopped']!r}"
        if finished > SUITES * CASES or statuses["failed"] > most_failed:
            yield f"results that no suite has: {dict(statuses)}"
        return
    if not head["complete"]:
        yield "it is not complete"
    if len(found) != SUITES * CASES or finished != SUITES * CASES:
        yield f"{SUITES * CASES - len(found)} results are missing"
    if statuses["failed"] != most_failed:
        yield f"{statuses['failed']} cases failed, and not {most_failed}"


def run_once(cluster: Cluster, home: Path, number: int, log: Callable[[str], None]) -> tuple[int, list[str]]:
    fails = number % 2 == 1
    project = home / ("fails" if fails else "passes")
    out = project / "scoregate-out"
    shutil.rmtree(out, ignore_errors=True)
    before, started = dict(cluster.killed), time.monotonic()
    command = [sys.executable, "-m", "scoregate", "run", "--executor", "dask", "--scheduler", cluster.address]
    done = subprocess.run(
        [*command, "--baseline", "none", "-q", "--retries", "50"],
        cwd=project, capture_output=True, text=True, check=False,
    )  # fmt: skip
    code, seconds = done.returncode, time.monotonic() - started
    kills = Counter(cluster.killed) - Counter(before)
    is_refused = code == _NO_SCHEDULER and "no scheduler of Dask can be reached" in done.stderr
    problems = [] if is_refused else list(find_problems(out, code, fails=fails))
    if is_refused:
        conclusion = "found no scheduler"
    elif code == _SIGTERM_CODE:
        head, cases = read_results(out)
        conclusion = f"stopped: {head['stopped']}; {len(cases)} of {SUITES * CASES} results kept"
    else:
        conclusion = f"complete, {SUITES * CASES} results" if not problems else "WRONG"
    log(f"run {number} {project.name}: exit code {code} after {seconds:.1f} s, {conclusion}; {dict(kills)}")
    for problem in problems:
        log(f"  PROBLEM: {problem}")
    if problems:
        print(done.stdout[-3000:], done.stderr[-6000:], sep="\n")
        shutil.copytree(out, Path(tempfile.gettempdir()) / f"chaos-{os.getpid()}-{number}", dirs_exist_ok=True)
    return code, problems


def main() -> int:
    seconds, seed = (int(word) for word in (*sys.argv[1:], *("120", "1")[len(sys.argv) - 1 :]))
    started = time.monotonic()

    def log(line: str) -> None:
        print(f"{time.monotonic() - started:6.1f} s  {line}", flush=True)

    home = Path(tempfile.mkdtemp(prefix="scoregate-chaos-"))
    for fails in (True, False):
        write_project(home / ("fails" if fails else "passes"), fails=fails)
    cluster, is_over = Cluster(home, log), threading.Event()
    killer = threading.Thread(target=kill_regularly, args=(cluster, is_over, seed))
    codes, problems = Counter[int](), list[str]()
    try:
        killer.start()
        number = 0
        while time.monotonic() - started < seconds:
            number += 1
            code, found = run_once(cluster, home, number, log)
            codes[code] += 1
            problems += found
    finally:
        is_over.set()
        killer.join()
        cluster.close()
        shutil.rmtree(home, ignore_errors=True)
    log(f"{number} runs by exit code: {dict(codes)}; killed: {dict(cluster.killed)}; problems: {len(problems)}")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
