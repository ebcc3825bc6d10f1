"""How long it takes to merge the runs of 50 shards with 100,000 cases, compared with reading them, and the memory."""

from collections.abc import Iterator
from functools import partial

from measure import interleaved, median, run
from peers import SUITES, home, tool
from rows import Row

CASES, SHARDS, FEW = 100_000, 50, 5


def measure(runs: int) -> Iterator[Row]:
    """Yield the ratio of merging to reading, without reports, and the peak RSS of many and of few shards."""
    folder = home() / "shards"
    script = [tool("scoregate"), str(SUITES / "shards.py")]

    def words(what: str, shards: int) -> list[str]:
        return [*script, what, str(folder), str(shards), str(CASES)]

    for shards in (SHARDS, FEW):
        if not (folder / f"{shards}-{CASES}").exists():
            run(words("make", shards), env={})
    contenders = {
        "read": partial(run, words("read", SHARDS), env={}),
        "merge": partial(run, words("merge", SHARDS), env={}),
        "few": partial(run, words("merge", FEW), env={}),
    }
    samples = interleaved(contenders, runs)
    for each in samples.values():
        assert all(sample.printed.strip() == str(CASES) for sample in each)
    read, merged = median(samples["read"]), median(samples["merge"])
    peaks = {name: max(sample.own_mb for sample in each) for name, each in samples.items()}
    yield Row("merge, 50 shards, 100,000 cases", merged / read, "x", 3, f"{merged:.2f} s, reading them {read:.2f} s")
    note = f"{peaks['merge']:.0f} MB, {FEW} shards {peaks['few']:.0f} MB"
    yield Row("merge, peak RSS of 50 shards and of 5", peaks["merge"] / peaks["few"], "x", 1.1, note)
