"""Suites on a real cluster: a `dask scheduler` and four `dask worker` processes. Needs scoregate[dask].

    python benchmarks/cluster.py speed|kills|limit|permits [SUITES] [CASES]

speed: the wall time of a run, compared with the ideal: suites × cases × 50 ms / 4 workers, one case at a time each.
kills: the same while a random worker is killed with SIGKILL every three seconds; its nanny starts it again.
limit: all suites ask one model, which accepts 600 calls a minute, through the gateway: the rate, and refused calls.
permits: the same without the gateway. After 20 s, one worker is killed with SIGKILL and stays away.
Exits with 1 if a result is missing, is there twice, or the verdict is another one.
"""

import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil

WORKERS = 4
PAUSE_S = 0.05
EVERY_S = 3.0
SUITE = """
import asyncio
from scoregate import evaluate

async def answer(input):
    await asyncio.sleep({pause})
    return input

def same(output, expected):
    return output == expected

rows = [{{"id": str(n), "input": n, "expected": n if n % 10 else -1}} for n in range({cases})]
evaluate("{name}", data=rows, task=answer, scorers=[same], concurrency=1)
"""


PER_MINUTE, CAPACITY = 600, 10
MODEL_SUITE = """
import json, os, urllib.request
from scoregate import evaluate

def answer(input):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({{"model": "m", "messages": [{{"role": "user", "content": f"{name} {{input}}"}}]}}).encode(),
        {{"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}},
    )
    with urllib.request.urlopen(request, timeout=600) as response:
        return json.load(response)["choices"][0]["message"]["content"]

def yes(output):
    return output == "yes"

evaluate("{name}", data=[{{"input": n}} for n in range({cases})], task=answer, scorers=[yes], concurrency=8)
"""


PERMIT_SUITE = """
from scoregate import evaluate
from scoregate.models import get_model

model = get_model("openai/m")

async def answer(input):
    return (await model.a_generate(f"{name} {{input}}")).text

def yes(output):
    return output == "yes"

evaluate("{name}", data=[{{"input": n}} for n in range({cases})], task=answer, scorers=[yes], concurrency=8)
"""
KILL_AFTER_S = 20.0


@contextmanager
def start_cluster(folder: Path, **environment: str) -> Iterator[tuple[str, list[int]]]:
    """The address of a scheduler, and the process ids of the nannies of its workers."""
    file, started = folder / "scheduler.json", list[subprocess.Popen[bytes]]()

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *words, "--scheduler-file", str(file), "--no-dashboard"]
        with (folder / f"{len(started)}.log").open("wb") as log:
            env = {**os.environ, **environment}
            process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True)
            started.append(process)
        return started[-1]

    start("scheduler", "--host", "127.0.0.1", "--port", "0")
    options = ("--nthreads", "1", "--memory-limit", "0", "--host", "127.0.0.1")
    nannies = [start("worker", *options, "--local-directory", str(folder / str(n))) for n in range(WORKERS)]
    try:
        while not file.exists():
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        _wait_for_workers(address)
        yield address, [each.pid for each in nannies]
    finally:
        for process in started:
            process.terminate()
        for process in started:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:  # a nanny whose worker was just killed
                process.kill()


def _wait_for_workers(address: str) -> None:
    from distributed import Client

    with Client(address) as client:
        client.wait_for_workers(WORKERS, timeout=120)


def list_workers(nannies: list[int]) -> list[psutil.Process]:
    children = (child for pid in nannies for child in psutil.Process(pid).children())
    return [child for child in children if any("spawn_main" in word for word in child.cmdline())]


def kill_workers(nannies: list[int], is_over: threading.Event, killed: list[str]) -> None:
    chance = random.Random(1)
    while not is_over.wait(EVERY_S):
        try:
            victim = chance.choice(list_workers(nannies))
            victim.kill()
        except (psutil.Error, IndexError):
            continue
        killed.append(f"{time.strftime('%H:%M:%S')} killed worker process {victim.pid}")


def find_problems(out: Path, suites: int, cases: int, exit_code: int) -> Iterator[str]:
    head = json.loads((out / "run/run.json").read_text())
    lines = gzip.decompress((out / "run/cases.jsonl.gz").read_bytes()).splitlines()
    found = Counter((case["suite"], case["hash"], case.get("repeat", 0)) for case in map(json.loads, lines))
    failing = suites * len(range(0, cases, 10))
    if len(found) != suites * cases:
        yield f"{suites * cases - len(found)} results are missing"
    if twice := sum(number > 1 for number in found.values()):
        yield f"{twice} results are there twice"
    if (number := sum(suite["statuses"]["failed"] for suite in head["suites"])) != failing:
        yield f"{number} cases failed, and not {failing}"
    if exit_code != 1 or not head["complete"]:
        yield f"exit code {exit_code}, complete: {head['complete']}"


class Provider(ThreadingHTTPServer):
    """A model that accepts ten calls a second, from a bucket of ten, and reports the bucket in headers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.lock, self.level, self.filled_at = threading.Lock(), float(CAPACITY), time.monotonic()
        self.accepted: list[float] = []
        self.refused = 0

    def take(self) -> tuple[bool, float]:
        with self.lock:
            now = time.monotonic()
            self.level = min(CAPACITY, self.level + (now - self.filled_at) * PER_MINUTE / 60)
            self.filled_at = now
            if self.level < 1:
                self.refused += 1
                return False, self.level
            self.level -= 1
            self.accepted.append(now)
            return True, self.level


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Provider

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        is_accepted, level = self.server.take()
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
        usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
        body = json.dumps({"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})
        self.send_response(200 if is_accepted else 429)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("x-ratelimit-limit-requests", str(PER_MINUTE))
        self.send_header("x-ratelimit-remaining-requests", str(int(level)))
        self.send_header("x-ratelimit-reset-requests", f"{(CAPACITY - level) * 60 / PER_MINUTE:.3f}s")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


def write_suites(project: Path, template: str, suites: int, cases: int) -> None:
    (project / "evals").mkdir(parents=True)
    for number in range(suites):
        text = template.format(pause=PAUSE_S, cases=cases, name=f"suite {number}")
        (project / f"evals/eval_{number}.py").write_text(text)


def run_on(address: str, project: Path, *options: str, **environment: str) -> tuple[int, float, dict[str, Any]]:
    """The exit code of a run, the seconds of the command, and the head of its record."""
    started = time.monotonic()
    command = [sys.executable, "-m", "scoregate", "run", "--executor", "dask", "--scheduler", address]
    env = {**os.environ, **environment}
    done = subprocess.run(
        [*command, "--baseline", "none", "-q", *options],
        cwd=project,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - started
    path = project / "scoregate-out/run/run.json"
    if not path.exists() or done.returncode not in (0, 1):
        sys.exit(done.stdout + done.stderr)
    return done.returncode, seconds, json.loads(path.read_text())


def kill_for_good(nanny: psutil.Process) -> None:
    """Kill a worker and its nanny."""
    children = nanny.children(recursive=True)
    for process in (nanny, *children):
        with suppress(psutil.Error):
            if process is nanny or any("spawn_main" in word for word in process.cmdline()):
                process.kill()


def measure_limit(folder: Path, suites: int, cases: int, *, gateway: bool) -> bool:
    provider = Provider()
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    write_suites(folder / "project", MODEL_SUITE if gateway else PERMIT_SUITE, suites, cases)
    model = {
        "SCOREGATE_CACHE": "off",
        "OPENAI_API_KEY": "sk-for-the-benchmark",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{provider.server_port}/v1",
    }
    with start_cluster(folder, **model) as (address, nannies):
        if not gateway:
            killer = threading.Timer(KILL_AFTER_S, kill_for_good, [psutil.Process(nannies[0])])
            killer.start()
        code, _, head = run_on(address, folder / "project", SCOREGATE_GATEWAY="on" if gateway else "off", **model)
    accepted = sorted(provider.accepted)
    # The bucket was full at first.
    rate = (len(accepted) - CAPACITY) / (accepted[-1] - accepted[0]) * 60
    print(f"load {os.getloadavg()[0]:.1f}; exit code {code}; {len(accepted)} of {suites * cases} calls accepted")
    print(f"{rate:.1f} calls a minute of {PER_MINUTE} ({rate / PER_MINUTE:.3f}), {provider.refused} refused")
    print("\n".join(head["notices"]))
    windows = Counter(int((moment - accepted[0]) // 10) for moment in accepted)
    print(f"accepted in each 10 s: {[windows[number] for number in sorted(windows)]}")
    # What a killed worker was doing is asked again.
    return code != 0 or not suites * cases <= len(accepted) <= suites * cases + (0 if gateway else 8)


def measure_run(folder: Path, suites: int, cases: int, *, kills: bool) -> bool:
    killed: list[str] = []
    project, is_over = folder / "project", threading.Event()
    write_suites(project, SUITE, suites, cases)
    load = os.getloadavg()[0]
    with start_cluster(folder) as (address, nannies):
        if kills:
            threading.Thread(target=kill_workers, args=(nannies, is_over, killed), daemon=True).start()
        code, seconds, head = run_on(address, project, "--retries", "50" if kills else "3")
        is_over.set()
    problems = list(find_problems(project / "scoregate-out", suites, cases, code))
    ideal = suites * cases * PAUSE_S / WORKERS
    suites_s = head["finished"] - head["started"]
    print("\n".join(killed))
    print(f"load before: {load:.1f}, after: {os.getloadavg()[0]:.1f}; killed: {len(killed)}")
    print(f"ideal {ideal:.1f} s, run {suites_s:.1f} s ({ideal / suites_s:.3f})")
    scripts_s = sum(script["duration_s"] for script in head["scripts"]) / suites
    print(f"a script took {scripts_s:.2f} s, and its cases at least {cases * PAUSE_S:.2f} s")
    print(f"command with start and reports {seconds:.1f} s ({ideal / seconds:.3f})")
    print("\n".join((*head["notices"], *problems)))
    return bool(problems)


_DEFAULTS = {"limit": (4, 150), "permits": (12, 60)}


def main() -> int:
    mode, *numbers = sys.argv[1:]
    suites, cases = map(int, numbers or _DEFAULTS.get(mode, (40, 250)))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if mode in ("limit", "permits"):
            return measure_limit(Path(folder), suites, cases, gateway=mode == "limit")
        return measure_run(Path(folder), suites, cases, kills=mode == "kills")


if __name__ == "__main__":
    sys.exit(main())
