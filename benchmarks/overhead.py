"""The cost of 10,000 instant cases, whole process, compared with pydantic-evals, braintrust and autoblocksai."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from contenders import CONTENDERS, Load
from measure import Sample, interleaved, median
from rows import Row

CASES = 10_000
TARGETS = {
    "async": {"pydantic-evals": 0.4, "braintrust": 0.35, "autoblocksai": 0.04},
    "sync": {"pydantic-evals": 0.6, "braintrust": 0.6},
}


def _shown(name: str, samples: Sequence[Sample]) -> str:
    return f"{name} {median(samples):.2f} s, CPU {median(samples, 'cpu'):.2f} s, {median(samples, 'own_mb'):.0f} MB"


def _rows(scorers: str, samples: Mapping[str, Sequence[Sample]]) -> Iterator[Row]:
    ours = samples["scoregate"]
    for peer, target in TARGETS[scorers].items():
        ratio = median(ours) / median(samples[peer])
        note = f"{_shown('scoregate', ours)}; {_shown(peer, samples[peer])}"
        yield Row(f"overhead, {scorers} scorers, of {peer}", ratio, "x", target, note)
    floor = samples["asyncio"]
    yield Row(f"overhead, {scorers} scorers, over bare asyncio", median(ours) - median(floor), "s")


def measure(runs: int) -> Iterator[Row]:
    """Yield the ratios of wall times, with async scorers, then with sync ones."""
    for scorers, targets in TARGETS.items():
        load = Load(CASES, scorers=scorers)
        names = ["scoregate", *targets, "asyncio"]
        for name in names:
            CONTENDERS[name](Load(100, scorers=scorers))
        yield from _rows(scorers, interleaved({name: partial(CONTENDERS[name], load) for name in names}, runs))
