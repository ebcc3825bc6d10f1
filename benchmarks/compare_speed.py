"""What comparing costs: `compare(run, base)` on runs in memory; `python benchmarks/compare_speed.py [--check]`.

In CPU time of one process, so that other work on the machine does not count.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rows import Row

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.kernel.types.runs.text_column import TextColumn

HEAD = "| compare | measured | target | | |\n|---|--:|--:|---|---|"
Score = Callable[[random.Random], float]
KINDS: tuple[Score, ...] = (
    lambda source: float(source.random() < 0.7),
    lambda source: source.randrange(5) / 4,
    lambda source: source.random() ** 0.3,
)


@dataclass(frozen=True)
class Load:
    """What is compared, and what it may cost at most; None where it is only shown."""

    evaluators: int
    cases: int
    repeats: int
    seconds: float | None = None
    megabytes: float | None = None
    bases: int = 1

    @property
    def name(self) -> str:
        """Return the load in words."""
        pooled = f", {self.bases} base runs pooled" if self.bases > 1 else ""
        return f"{self.evaluators} evaluators × {self.cases:,} cases × {self.repeats}{pooled}"


LOADS = (
    Load(12, 2_000, 3, seconds=1),
    Load(3, 100_000, 1, seconds=3, megabytes=150),
    Load(12, 2_000, 1, seconds=2, bases=5),
    Load(12, 200, 1),  # where the test inverts the characteristic function
    Load(12, 200, 1, bases=5),  # where it deals trials anew as well
)


def _columns(load: Load, seed: int) -> Columns:
    """A third of the evaluators gives 0 or 1, a third a rubric's five steps, a third any number."""
    source, columns = random.Random(seed), Columns()
    rows = load.cases * load.repeats
    columns.hashes = [f"{at // load.repeats:032x}" for at in range(rows)]
    columns.digests = TextColumn(f"{at // load.repeats:016x}" for at in range(rows))
    columns.repeats = array("l", (at % load.repeats for at in range(rows)))
    columns.statuses = bytearray(int(source.random() < 0.1) for _ in range(rows))
    columns.durations_ms = array("d", (source.lognormvariate(6, 1) for _ in range(rows)))
    columns.costs = array("d", (source.lognormvariate(-6, 1) for _ in range(rows)))
    columns.tokens = array("d", (float(source.randrange(100, 3_000)) for _ in range(rows)))
    for at in range(load.evaluators):
        columns.scores[f"evaluator-{at}"] = array("d", (KINDS[at % len(KINDS)](source) for _ in range(rows)))
    return columns


def _run(load: Load, seed: int) -> Run:
    names = [f"evaluator-{at}" for at in range(load.evaluators)]
    infos = {name: EvaluatorInfo(name, Fingerprint(source="a")) for name in names}
    suite = SuiteResult("bot", "bot", evaluators=infos, trials=Trials(_columns(load, seed)), complete=True)
    return Run(f"run-{seed}", started=0, end=RunEnd(1), code=RunCode("1", commit="base"), suites=(suite,))


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def _measured(load: Load, runs: int) -> dict[str, float]:
    """Compare as often as asked, in this process; the first time counts like the others, as it does in a job."""
    new, base, *pool = (_run(load, seed) for seed in range(1, 2 + load.bases))
    seconds = list[float]()
    for _ in range(runs):
        started = time.process_time()
        comparison = compare(new, base, pool=pool)
        seconds.append(time.process_time() - started)
        if len(comparison.rows) != load.evaluators or any(row.estimate.interval is None for row in comparison.rows):
            raise SystemExit(f"{load.name}: not every evaluator was compared")
    return {"seconds": statistics.median(seconds), "megabytes": _peak_mb()}


def _rows(at: int, runs: int) -> Iterator[Row]:
    """Each load has a process of its own: the peak is of the interpreter, both runs' columns and the comparison."""
    load = LOADS[at]
    command = [sys.executable, __file__, "--runs", str(runs), "--load", str(at)]
    measured = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    yield Row(f"{load.name}, time", measured["seconds"], "s", load.seconds, f"median of {runs}")
    yield Row(f"{load.name}, peak memory", measured["megabytes"], "MB", load.megabytes, "the whole process")


def main() -> int:
    """Measure every load and return the exit code: 1 where a target is missed and `--check` was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    parser.add_argument("--runs", type=int, default=5, help="how often each is compared (default 5)")
    parser.add_argument("--load", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load is not None:
        print(json.dumps(_measured(LOADS[arguments.load], arguments.runs)))
        return 0
    print(HEAD)
    missed = False
    for at in range(len(LOADS)):
        for row in _rows(at, arguments.runs):
            print(row, flush=True)
            missed |= row.missed
    return int(missed and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
