"""Whether ten times the cases cost ten times the time and little memory, in the suite's process and in the host's."""

from collections.abc import Iterator
from functools import partial

from contenders import CONTENDERS, Load
from host import run_host
from measure import interleaved, median
from peers import SUITES, home
from rows import Row

SMALL = Load(10_000)
LARGE = Load(100_000)
HUGE = Load(1_000_000)


def _in_process(runs: int) -> Iterator[Row]:
    ours = CONTENDERS["scoregate"]
    samples = interleaved({"small": partial(ours, SMALL), "large": partial(ours, LARGE)}, runs)
    small, large = median(samples["small"]), median(samples["large"])
    yield Row("scale, 100,000 cases of 10,000", large / small, "x", 11, f"{small:.2f} s, {large:.2f} s")
    peak = max(sample.own_mb for sample in samples["large"])
    yield Row("scale, 100,000 cases, peak RSS", peak, "MB", 200, "the highest of the runs")


def _through_host(runs: int) -> Iterator[Row]:
    out = home() / "runs" / str(LARGE.cases)
    suite = SUITES / "on_scoregate.py"
    ours = CONTENDERS["scoregate"]
    taken = interleaved({"host": partial(run_host, suite, out, LARGE), "alone": partial(ours, LARGE)}, runs)
    samples, alone = taken["host"], taken["alone"]
    note = "; ".join(f"{median(each):.2f} s, CPU {median(each, 'cpu'):.2f} s" for each in (samples, alone))
    yield Row("scale, 100,000 cases and all reports, of the suite alone", median(samples) / median(alone), "x", 2, note)
    note = f"the suite's process {max(sample.descendants_mb for sample in samples):.0f} MB"
    yield Row("scale, 100,000 cases, host's peak RSS", max(sample.own_mb for sample in samples), "MB", 250, note)
    sample = run_host(suite, home() / "runs" / str(HUGE.cases), HUGE)
    note = f"once; {sample.wall:.0f} s, CPU {sample.cpu:.0f} s; the suite's process {sample.descendants_mb:.0f} MB"
    yield Row("scale, 1,000,000 cases, host's peak RSS", sample.own_mb, "MB", 300, note)


def measure(runs: int) -> Iterator[Row]:
    """Yield the growth of the time, the host's share and the peaks of both; the host's run stays stored for `junit`."""
    yield from _in_process(runs)
    yield from _through_host(runs)
