"""How long it takes to record and compare 1,000 trajectories of 100 steps, and the host's memory with 4,000."""

import gzip
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from contenders import Load
from host import stored_run
from measure import Failed, Sample, interleaved, median, run
from peers import SUITES, tool
from rows import Row

CASES, MORE_CASES, SCORERS = 1_000, 4_000, 3


def _run(out: Path, load: Load, baseline: str) -> Sample:
    suite = SUITES / "trajectories_load.py"
    command = [tool("scoregate", "scoregate"), "run", str(suite), "--out", str(out), "--baseline", baseline]
    sample = run(command, env=load.env, cwd=suite.parent)
    with gzip.open(stored_run(out) / "cases.jsonl.gz", "rt") as lines:
        scored = sum(line.count('"score":') for line in lines)
    if scored != load.cases * SCORERS:
        raise Failed(f"{scored:,} scores of trajectories in {out}, not {load.cases * SCORERS:,}")
    return sample


def _compare(load: Load) -> Sample:
    """Record a baseline, and measure a run that records as many trajectories and compares them with it."""
    with TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        _run(before, load, "none")
        return _run(Path(folder) / "after", load, str(before))


def measure(runs: int) -> Iterator[Row]:
    """Yield the seconds of a run of 1,000 trajectories with a baseline, and how its memory grows with their number."""
    loads = {str(cases): partial(_compare, Load(cases)) for cases in (CASES, MORE_CASES)}
    samples = interleaved(loads, runs)
    few, many = samples[str(CASES)], samples[str(MORE_CASES)]
    note = f"CPU of host and suite {median(few, 'cpu'):.2f} s"
    yield Row("trajectories, 1,000 of 100 steps, recorded and compared", median(few), "s", 10, note)
    sizes = median(many, "own_mb"), median(few, "own_mb")
    note = f"{sizes[0]:.0f} MB, {sizes[1]:.0f} MB"
    yield Row("trajectories, the host's peak RSS with 4,000 and with 1,000", sizes[0] / sizes[1], "x", 1.2, note)
