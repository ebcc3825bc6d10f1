"""What a table of 100,000 tests costs: time beside csv.DictReader and pydantic alone, and memory."""

import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Failed, Sample, interleaved, median, run
from peers import SUITES, tool
from rows import Row

TESTS = 100_000


def _load(file: Path, command: str) -> Sample:
    words = [command, str(file), str(TESTS)]
    sample = run([tool("scoregate-models"), str(SUITES / "testsets_load.py"), *words], env={})
    if sample.told["count"] != TESTS:
        raise Failed(f"{command} found {sample.told['count']} tests, not {TESTS}")
    return sample


def measure(runs: int) -> Iterator[Row]:
    """Yield the CPU time of reading as a share of what it may take, and peaks of memory."""
    with TemporaryDirectory() as name:
        file = Path(name) / "tests.csv"
        _load(file, "make")
        samples = interleaved({each: partial(_load, file, each) for each in ("rows", "models", "ours")}, runs)
        seconds = {kind: statistics.median(each.told["seconds"] for each in found) for kind, found in samples.items()}
        note = ", ".join(f"{kind} {value:.2f} s" for kind, value in seconds.items())
        budget = 2 * seconds["rows"] + seconds["models"]
        yield Row("test sets, CSV of 100,000, of 2 x DictReader + pydantic", seconds["ours"] / budget, "x", 1, note)
        yield Row("test sets, CSV of 100,000, peak RSS", median(samples["ours"], "own_mb"), "MB", 300)
        for step in ("push", "pull"):
            sample = _load(file, step)
            note = f"{sample.told['seconds']:.1f} s of CPU"
            yield Row(f"test sets, {step} of 100,000, peak RSS", sample.own_mb, "MB", 300, note)
