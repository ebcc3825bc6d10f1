"""The rate and memory of the server for foreign SDKs, compared with a bare server that only answers."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from contenders import Load, check_scored
from measure import Sample, interleaved, run
from peers import SUITES, tool
from rows import Row

SMALL, LARGE = Load(1_000), Load(10_000)
SHARE_OF_BARE = 0.6


def _serve(name: str, load: Load) -> Sample:
    sample = run([tool("scoregate"), str(SUITES / f"listen_on_{name}.py")], env=load.env)
    if name == "scoregate":
        check_scored(name, sample.measured["scored"], load)
    return sample


def _rate(samples: Sequence[Sample]) -> float:
    rates: list[float] = [sample.measured["requests"] / sample.measured["seconds"] for sample in samples]
    return statistics.median(rates)


def measure(runs: int) -> Iterator[Row]:
    """Yield the time over a bare server's, the time until all is recorded, and how memory grows with the cases."""
    contenders = {name: partial(_serve, name, LARGE) for name in ("scoregate", "starlette")}
    contenders["small"] = partial(_serve, "scoregate", SMALL)
    samples: Mapping[str, Sequence[Sample]] = interleaved(contenders, runs)
    ours, bare = _rate(samples["scoregate"]), _rate(samples["starlette"])
    note = f"scoregate {ours:,.0f} requests a second, starlette {bare:,.0f}"
    yield Row("listen, 30,000 requests, of a bare server", bare / ours, "x", 1 / SHARE_OF_BARE, note)
    extra_s = statistics.median(s.measured["recorded"] - s.measured["seconds"] for s in samples["scoregate"])
    yield Row("listen, start, end and record besides", extra_s, "s")
    small, large = (max(sample.own_mb for sample in samples[name]) for name in ("small", "scoregate"))
    yield Row(
        "listen, host's peak RSS, 10,000 cases over 1,000", large - small, "MB", 20, f"{small:.1f}, {large:.1f} MB"
    )
