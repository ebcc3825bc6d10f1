"""The cost of an offline test of 10,000 rows with instant agent and judges, compared with the same test suite."""

import statistics
from collections.abc import Iterator
from functools import partial

from measure import Failed, Sample, interleaved, median, run
from peers import SUITES, tool
from rows import Row

ROWS, JUDGES = 10_000, 2


def _load(kind: str) -> Sample:
    sample = run([tool("scoregate-models"), str(SUITES / "offline_load.py"), kind], env={"BENCH_CASES": str(ROWS)})
    if sample.measured["scored"] != ROWS * JUDGES:
        raise Failed(f"{kind} scored {sample.measured['scored']} times, not {ROWS * JUDGES}")
    return sample


def measure(runs: int) -> Iterator[Row]:
    """Yield the ratio of the seconds that the calls take, imports and what is made for them aside."""
    samples = interleaved({kind: partial(_load, kind) for kind in ("offline", "suite")}, runs)
    seconds = {kind: statistics.median(each.measured["seconds"] for each in found) for kind, found in samples.items()}
    note = "; ".join(
        f"{kind} {value:.2f} s, CPU {median(samples[kind], 'cpu'):.2f} s" for kind, value in seconds.items()
    )
    yield Row("offline tests, of a test suite", seconds["offline"] / seconds["suite"], "x", 1.5, note)
