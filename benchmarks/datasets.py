"""How long a store of many datasets takes to list, and how much memory a dataset of a million rows."""

import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Failed, Sample, interleaved, median, run
from peers import SUITES, tool
from rows import Row

DATASETS, VERSIONS, ROWS = 1_000, 100, 1_000_000


def _load(folder: Path, count: int, command: str, *numbers: int) -> Sample:
    words = [command, str(folder), *map(str, numbers)]
    sample = run([tool("scoregate-models"), str(SUITES / "datasets_load.py"), *words], env={})
    if sample.measured["count"] != count:
        raise Failed(f"{command} found {sample.measured['count']}, not {count}")
    return sample


def _listed(runs: int) -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        _load(folder, DATASETS, "make", DATASETS, VERSIONS)
        samples = interleaved({"list": partial(_load, folder, DATASETS, "list")}, runs)["list"]
    seconds = statistics.median(sample.measured["seconds"] for sample in samples)
    note = f"the call alone; CPU of the whole process {median(samples, 'cpu'):.2f} s"
    yield Row("datasets, a list of 1,000 with 100 versions each", seconds, "s", 1, note)


def _streamed() -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        steps = {
            " made of JSON lines": partial(_load, folder, ROWS, "stream-in", ROWS),
            " read, the newest": partial(_load, folder, ROWS, "read", 1),
            ", an edit by hand made a version": partial(_load, folder, ROWS, "edit"),
            " read, an older one": partial(_load, folder, ROWS, "read", 1),
        }
        for step, load in steps.items():
            sample = load()
            note = f"{sample.measured['seconds']:.1f} s, CPU {sample.cpu:.1f} s"
            yield Row(f"datasets, 1,000,000 rows{step}, peak RSS", sample.own_mb, "MB", 300, note)


def measure(runs: int) -> Iterator[Row]:
    """Yield the seconds of a list, and peaks of memory, each of one run."""
    yield from _listed(runs)
    yield from _streamed()
