"""The cost of suites with a model and a judge, compared with a bare loop and peers; from the cache; under a limit."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Failed, Sample, interleaved, median
from model_contenders import CALLS_A_CASE, CONTENDERS, asked, expect, server
from rows import Row

CASES, LATENCY_S = 1_000, 0.02
LIMITED_CASES, PER_MINUTE = 300, 600
TARGETS = {"asyncio": 1.15, "pydantic-evals": 1.0, "deepeval": 1.0, "promptfoo": 1.0, "inspect-ai": 1.0}


def _run(name: str, address: str) -> Sample:
    sample = CONTENDERS[name](address, cases=CASES)
    expect(address, CASES * CALLS_A_CASE, name)
    return sample


def _unless_crashed(name: str, address: str, *, crashed: dict[str, Failed]) -> Sample | None:
    """Run a contender unless it crashed before. scoregate and the bare loop must not crash."""
    if name in crashed:
        return None
    try:
        return _run(name, address)
    except Failed as error:
        if name in ("asyncio", "scoregate"):
            raise
        crashed[name] = error
        asked(address)  # so that what it asked until then is not the next one's
        return None


def _last_words(name: str, error: Failed) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{name} crashed: {' … '.join((lines[0][-80:], lines[-1][:160]))}".replace("|", "/")


def _seconds(samples: Sequence[Sample]) -> float:
    seconds: list[float] = [sample.measured["seconds"] for sample in samples]
    return statistics.median(seconds)


def _shown(name: str, samples: Sequence[Sample]) -> str:
    return f"{name} {median(samples):.2f} s, {_seconds(samples):.2f} s in the run, CPU {median(samples, 'cpu'):.2f} s"


def _live(runs: int) -> Iterator[Row]:
    crashed: dict[str, Failed] = {}
    with server(latency_s=LATENCY_S) as address:
        names = {name: partial(_unless_crashed, name, address, crashed=crashed) for name in CONTENDERS}
        taken: Mapping[str, Sequence[Sample | None]] = interleaved(names, runs)
    samples = {name: [sample for sample in found if sample is not None] for name, found in taken.items()}
    ours = samples["scoregate"]
    for peer, target in TARGETS.items():
        if peer in crashed:
            yield Row(f"models, 1,000 cases and judgements, of {peer}", nan, "x", note=_last_words(peer, crashed[peer]))
            continue
        ratio = median(ours) / median(samples[peer])
        note = f"{_shown('scoregate', ours)}; {_shown(peer, samples[peer])}"
        yield Row(f"models, 1,000 cases and judgements, of {peer}", ratio, "x", target, note)


def _cached(runs: int) -> Iterator[Row]:
    first, again = [], []
    with server(latency_s=LATENCY_S) as address:
        for _ in range(runs):
            with TemporaryDirectory() as folder:
                ours = partial(CONTENDERS["scoregate"], address, cases=CASES, cache=str(Path(folder, "cache")))
                first.append(ours())
                expect(address, CASES * CALLS_A_CASE, "scoregate")
                again.append(ours())
                expect(address, 0, "scoregate")
    note = f"{_seconds(first):.2f} s, {_seconds(again):.2f} s in the run; no request"
    yield Row("models, from the cache, of the first run", _seconds(again) / _seconds(first), "x", 0.1, note)


def _limited(name: str, *options: str) -> Row:
    calls = LIMITED_CASES * CALLS_A_CASE
    with server("--requests-per-minute", str(PER_MINUTE), *options, latency_s=LATENCY_S) as address:
        sample = CONTENDERS["scoregate"](address, cases=LIMITED_CASES)
        refused = asked(address) - calls
    ideal = calls / PER_MINUTE * 60
    note = f"{sample.measured['seconds']:.1f} s for {calls} calls, {refused} more refused, none failed"
    return Row(
        f"models, at 600 requests a minute{name}, of the ideal", sample.measured["seconds"] / ideal, "x", 1 / 0.95, note
    )


def measure(runs: int) -> Iterator[Row]:
    """Yield the ratios of wall times, of seconds in the run, and of the ideal time under a limit."""
    yield from _live(runs)
    yield from _cached(runs)
    yield _limited("")
    silent = "--silent-limits", "--whole-seconds"
    yield _limited(" by Retry-After alone, at most a second's calls at once", *silent)
    yield _limited(" by Retry-After alone, one call at once", *silent, "--burst", "1")
