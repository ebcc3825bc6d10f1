"""What `scoregate exec` adds to a suite of another SDK: 400 cases of half a second, as its own documents have them."""

from collections.abc import Iterator
from functools import partial

from contenders import Load, autoblocks, exec_autoblocks
from measure import interleaved, median
from rows import Row

LOAD = Load(400, pause_ms=500, concurrency=10)


def measure(runs: int) -> Iterator[Row]:
    """Yield the whole command's time over the SDK's own, which posts to a server that only answers."""
    for contender in (autoblocks, exec_autoblocks):
        contender(Load(10))
    contenders = {"alone": partial(autoblocks, LOAD), "exec": partial(exec_autoblocks, LOAD)}
    samples = interleaved(contenders, runs)
    alone, ours = median(samples["alone"]), median(samples["exec"])
    note = f"autoblocksai {alone:.2f} s, under exec {ours:.2f} s"
    yield Row("exec, 400 cases of autoblocksai, of the SDK alone", ours / alone, "x", 1.1, note)
