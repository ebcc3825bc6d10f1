"""Who runs a load: scoregate and its peers. Each returns its sample once every case is known to be scored."""

import gzip
import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Failed, Sample, run
from peers import SUITES, tool

EVALUATORS = 2


@dataclass(frozen=True)
class Load:
    """What is run: so many cases, so many at once, each so long, with scorers of one kind (`async` or `sync`)."""

    cases: int
    pause_ms: int = 0
    concurrency: int = 50
    scorers: str = "async"

    @property
    def env(self) -> dict[str, str]:
        """Return the variables `suites/load.py` reads."""
        names = {"CASES": self.cases, "PAUSE_MS": self.pause_ms, "CONCURRENCY": self.concurrency}
        return {f"BENCH_{name}": str(value) for name, value in names.items()} | {"BENCH_SCORERS": self.scorers}


def check_scored(who: str, scored: int, load: Load) -> None:
    """Raise unless two scores a case came back."""
    if scored != load.cases * EVALUATORS:
        raise Failed(f"{who} scored {scored:,} times, not {load.cases * EVALUATORS:,}")


def _suite(python: str, name: str, load: Load, env: Mapping[str, str] | None = None) -> Sample:
    return run([python, str(SUITES / f"on_{name}.py")], env={**load.env, **(env or {})})


def asyncio_floor(load: Load) -> Sample:
    """Run it on fifty bare workers."""
    sample = _suite(sys.executable, "asyncio", load)
    check_scored("asyncio", sample.measured["scored"], load)
    return sample


def pydantic_evals(load: Load) -> Sample:
    """Run it on pydantic-evals."""
    sample = _suite(tool("pydantic-evals"), "pydantic_evals", load)
    check_scored("pydantic-evals", sample.measured["scored"], load)
    return sample


def braintrust(load: Load) -> Sample:
    """Run it on braintrust."""
    sample = _suite(tool("braintrust"), "braintrust", load)
    check_scored("braintrust", sample.measured["scored"], load)
    return sample


@contextmanager
def _autoblocks_server() -> Iterator[str]:
    command = [sys.executable, str(SUITES / "autoblocks_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://localhost:{int(server.stdout.readline())}"
        finally:
            server.terminate()


def autoblocks(load: Load) -> Sample:
    """Run it on autoblocksai, which posts its results to a local server that only answers."""
    with _autoblocks_server() as address:
        sample = _suite(tool("autoblocksai"), "autoblocks", load, {"AUTOBLOCKS_CLI_SERVER_ADDRESS": address})
        with urllib.request.urlopen(f"{address}/counts") as reply:
            check_scored("autoblocksai", json.load(reply)["/evals"], load)
    return sample


def exec_autoblocks(load: Load) -> Sample:
    """Run the same suite of autoblocksai under `scoregate exec`, from the host's start to its reports."""
    suite = [tool("autoblocksai"), str(SUITES / "on_autoblocks.py")]
    with TemporaryDirectory() as project:
        command = [tool("scoregate", "scoregate"), "exec", "--baseline", "none", "--", *suite]
        sample = run(command, env=load.env, cwd=Path(project))
        with gzip.open(Path(project) / "scoregate-out" / "run" / "cases.jsonl.gz") as cases:
            check_scored("scoregate exec", sum(len(json.loads(line)["evaluations"]) for line in cases), load)
    return sample


def count_scored(folder: Path) -> int:
    """Return how many evaluations the event logs in a folder hold."""
    lines = (line for log in folder.rglob("*") if log.is_file() for line in log.open("rb"))
    return sum(json.loads(line)["type"] == "scored" for line in lines)


def scoregate(load: Load) -> Sample:
    """Run it on scoregate, every result written to the event log and counted there afterwards."""
    with TemporaryDirectory() as events:
        sample = _suite(tool("scoregate"), "scoregate", load, {"SCOREGATE_EVENTS": events})
        check_scored("scoregate", count_scored(Path(events)), load)
    return sample


CONTENDERS: dict[str, Callable[[Load], Sample]] = {
    "scoregate": scoregate,
    "pydantic-evals": pydantic_evals,
    "braintrust": braintrust,
    "autoblocksai": autoblocks,
    "asyncio": asyncio_floor,
}
