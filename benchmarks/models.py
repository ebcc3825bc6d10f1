"""What suites with models cost over a bare loop of the same calls, from the cache, and under a limit of requests."""

import json
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Failed, Sample, interleaved, median, run
from peers import REPOSITORY, SUITES, tool
from rows import Row

CASES, LATENCY_S, CONCURRENCY = 1_000, 0.02, 50
LIMITED_CASES, PER_MINUTE = 300, 600
CALLS_A_CASE = 2


@contextmanager
def _server(*options: str) -> Iterator[str]:
    """Start the fake of OpenAI's protocol as a process and yield its address."""
    command = [sys.executable, "-m", "tests.fakes.openai", "--latency", str(LATENCY_S), *options]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def _asked(address: str) -> int:
    """Return how many requests came since the last look."""
    log = urllib.request.Request(address.removesuffix("/v1") + "/fake/requests", method="DELETE")
    with urllib.request.urlopen(log) as reply:
        return len(json.load(reply))


def _suite(name: str, address: str, *, cache: str, cases: int = CASES) -> Sample:
    env = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none", "SCOREGATE_CACHE": cache}
    load = {"BENCH_CASES": str(cases), "BENCH_CONCURRENCY": str(CONCURRENCY)}
    sample = run([tool("scoregate-models"), str(SUITES / f"models_on_{name}.py")], env={**env, **load})
    if sample.told["scored"] != cases:
        raise Failed(f"{name} scored {sample.told['scored']} of {cases} cases")
    return sample


def _expect(address: str, calls: int) -> None:
    if (asked := _asked(address)) != calls:
        raise Failed(f"the server was asked {asked} times, not {calls}")


def _seconds(samples: Sequence[Sample]) -> float:
    return statistics.median(sample.told["seconds"] for sample in samples)


def _live(runs: int) -> Iterator[Row]:
    with _server() as address:
        names = {name: partial(_suite, name, address, cache="off") for name in ("asyncio", "scoregate")}
        samples: Mapping[str, Sequence[Sample]] = interleaved(names, runs)
        _expect(address, 2 * runs * CASES * CALLS_A_CASE)
    ours, floor = samples["scoregate"], samples["asyncio"]
    note = ", ".join(f"{name} {median(own):.2f} s, CPU {median(own, 'cpu'):.2f} s" for name, own in samples.items())
    yield Row("models, 1,000 cases and judgements, of a bare loop", median(ours) / median(floor), "x", 1.15, note)
    cpu = median(ours, "cpu") / median(floor, "cpu")
    yield Row("models, the same in CPU", cpu, "x")


def _cached(runs: int) -> Iterator[Row]:
    first, again = [], []
    with _server() as address:
        for _ in range(runs):
            with TemporaryDirectory() as folder:
                cache = str(Path(folder, "cache"))
                first.append(_suite("scoregate", address, cache=cache))
                _expect(address, CASES * CALLS_A_CASE)
                again.append(_suite("scoregate", address, cache=cache))
                _expect(address, 0)
    note = f"{_seconds(first):.2f} s, {_seconds(again):.2f} s in the run; no request"
    yield Row("models, from the cache, of the first run", _seconds(again) / _seconds(first), "x", 0.1, note)


def _limited() -> Iterator[Row]:
    calls = LIMITED_CASES * CALLS_A_CASE
    with _server("--requests-per-minute", str(PER_MINUTE)) as address:
        sample = _suite("scoregate", address, cache="off", cases=LIMITED_CASES)
        refused = _asked(address) - calls
    ideal = calls / PER_MINUTE * 60
    note = f"{sample.told['seconds']:.1f} s for {calls} calls, {refused} more refused, none failed"
    yield Row("models, at 600 requests a minute, of the ideal", sample.told["seconds"] / ideal, "x", 1 / 0.95, note)


def measure(runs: int) -> Iterator[Row]:
    """Yield the ratios of wall times, of seconds in the run, and of the ideal time under a limit."""
    yield from _live(runs)
    yield from _cached(runs)
    yield from _limited()
