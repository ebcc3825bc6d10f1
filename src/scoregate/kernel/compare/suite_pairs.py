"""Pairs of the suites of two runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scoregate.kernel.compare.setups import pair_setups
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.runs.run import Run, SuiteResult


def pair_suites(new: Iterable[SuiteResult], baseline: Iterable[SuiteResult]) -> Iterator[tuple[int, int]]:
    """Pair suites by setup. Then those with equal id and parameters: by file, by label, and without an alternative.

    Args:
        new: the suites of a run.
        baseline: the suites of its baseline, or of another run.

    Yields:
        The indices of two suites that belong together, in both.
    """
    unpaired, base_unpaired = dict(enumerate(new)), dict(enumerate(baseline))
    for index, base_index in list(pair_setups(unpaired, base_unpaired)):
        del unpaired[index], base_unpaired[base_index]
        yield index, base_index
    for match in ("file", "label", "only one"):
        for index, suite in list(unpaired.items()):
            candidates = [b for b, other in base_unpaired.items() if is_same_suite(suite, other)]
            if match == "file":
                candidates = [b for b in candidates if base_unpaired[b].script == suite.script][:1]
            elif match == "label":
                candidates = [b for b in candidates if base_unpaired[b].label == suite.label][:1]
            if len(candidates) == 1:
                del unpaired[index], base_unpaired[candidates[0]]
                yield index, candidates[0]


def is_same_suite(one: SuiteResult, other: SuiteResult) -> bool:
    """Whether two suites have the same id and parameters."""
    return one.id == other.id and dict(one.params or {}) == dict(other.params or {})


def list_same_suites(baseline: SuiteResult, runs: Sequence[Run]) -> Iterator[SuiteResult]:
    """The suite of a baseline in each of other runs that has it with the same evaluators."""
    for run in runs:
        for other in run.suites:
            if is_same_suite(baseline, other) and baseline.script == other.script:
                shared = baseline.evaluators.keys() & other.evaluators.keys()
                if not any(describe_fingerprint_change(baseline.evaluators[n], other.evaluators[n]) for n in shared):
                    yield other
                break
