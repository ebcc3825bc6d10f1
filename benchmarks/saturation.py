"""How near a run of 1,000 cases of 50 ms, 50 at once, comes to the ideal second, start-up left out."""

import statistics
from collections.abc import Iterator
from functools import partial

from contenders import CONTENDERS, Load
from measure import interleaved
from rows import Row

LOAD = Load(cases=1_000, pause_ms=50)
IDEAL_SECONDS = LOAD.cases * LOAD.pause_ms / 1000 / LOAD.concurrency
TARGETS = {"scoregate": 1.05, "asyncio": None, "pydantic-evals": None, "braintrust": None}


def measure(runs: int) -> Iterator[Row]:
    """Yield the seconds around the run, over the ideal; the peers' are shown for comparison."""
    samples = interleaved({name: partial(CONTENDERS[name], LOAD) for name in TARGETS}, runs)
    for name, target in TARGETS.items():
        seconds = statistics.median(sample.measured["seconds"] for sample in samples[name])
        yield Row(f"saturation, {name}, of the ideal", seconds / IDEAL_SECONDS, "x", target, f"{seconds:.3f} s")
