"""The cost of a table of 100,000 tests, and of 10,000 tests against an endpoint, compared with bare loops of httpx."""

import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Failed, Sample, interleaved, median, run
from peers import REPOSITORY, SUITES, tool
from rows import Row

TESTS = 100_000
ASKED, CONCURRENCY, LATENCY_S = 10_000, 50, 0.02
BARE = {"bare": "one client", "apart": "a client for each of fifty workers"}


def _load(file: Path, command: str) -> Sample:
    words = [command, str(file), str(TESTS)]
    sample = run([tool("scoregate-models"), str(SUITES / "testsets_load.py"), *words], env={})
    if sample.measured["count"] != TESTS:
        raise Failed(f"{command} found {sample.measured['count']} tests, not {TESTS}")
    return sample


@contextmanager
def _service() -> Iterator[str]:
    """Start the service under test as a process and yield where it takes messages."""
    command = [sys.executable, "-m", "tests.fakes.chat_service", "--latency", str(LATENCY_S)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"{process.stdout.readline().strip()}/chat"
        finally:
            process.terminate()


def _ask(kind: str, url: str) -> Sample:
    load = {"BENCH_CASES": str(ASKED), "BENCH_CONCURRENCY": str(CONCURRENCY), "BENCH_URL": url}
    sample = run([tool("scoregate-endpoints"), str(SUITES / "testsets_execution.py"), kind], env=load)
    if sample.measured["scored"] != ASKED:
        raise Failed(f"{kind} passed {sample.measured['scored']} of {ASKED} tests")
    return sample


def _executed(runs: int) -> Iterator[Row]:
    with _service() as url:
        samples = interleaved({kind: partial(_ask, kind, url) for kind in ("ours", *BARE)}, runs)
    ours = median(samples["ours"])
    for kind, words in BARE.items():
        bare = median(samples[kind])
        note = f"scoregate {ours:.2f} s, CPU {median(samples['ours'], 'cpu'):.2f} s; httpx {bare:.2f} s"
        yield Row(f"test sets, 10,000 tests of 20 ms, of a bare loop, {words}", ours / bare, "x", 1.15, note)


def measure(runs: int) -> Iterator[Row]:
    """Yield the CPU time of reading as a share of what it may take, peaks of memory, and ratios of wall times."""
    with TemporaryDirectory() as name:
        file = Path(name) / "tests.csv"
        _load(file, "make")
        samples = interleaved({each: partial(_load, file, each) for each in ("rows", "models", "ours")}, runs)
        seconds = {
            kind: statistics.median(each.measured["seconds"] for each in found) for kind, found in samples.items()
        }
        note = ", ".join(f"{kind} {value:.2f} s" for kind, value in seconds.items())
        budget = 2 * seconds["rows"] + seconds["models"]
        yield Row("test sets, CSV of 100,000, of 2 x DictReader + pydantic", seconds["ours"] / budget, "x", 1, note)
        yield Row("test sets, CSV of 100,000, peak RSS", median(samples["ours"], "own_mb"), "MB", 300)
        for step in ("push", "pull"):
            sample = _load(file, step)
            note = f"{sample.measured['seconds']:.1f} s of CPU"
            yield Row(f"test sets, {step} of 100,000, peak RSS", sample.own_mb, "MB", 300, note)
    yield from _executed(runs)
