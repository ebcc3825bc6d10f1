"""Which cases more trials would tell most about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isnan

from scoregate.core.record import Run, SuiteResult


def undecided(run: Run, base: Run, suite: int, base_suite: int) -> list[str]:
    """The hashes of cases on which the two runs differ, or a run disagrees with itself, in the order of the run.

    Which side is better plays no part in the choice. Args: the indices of one suite in both runs.
    """
    here, there = run.suites[suite], base.suites[base_suite]
    shared = here.evaluators.keys() & there.evaluators.keys()
    known = set(there.columns.hashes)
    seen: dict[str, dict[str, set[float]]] = {name: {} for name in shared}
    for twin in (*_twins(here, run), *_twins(there, base)):
        for name, case, score in _scores(twin, shared):
            seen[name].setdefault(case, set()).add(score)
    mixed = {case for scores in seen.values() for case, values in scores.items() if len(values) > 1}
    return [case for case in dict.fromkeys(here.columns.hashes) if case in mixed and case in known]


def _twins(suite: SuiteResult, run: Run) -> Iterator[SuiteResult]:
    yield suite
    for extra in run.extras:
        yield from (twin for twin in extra.suites if (twin.script, twin.id) == (suite.script, suite.id))


def _scores(suite: SuiteResult, evaluators: Iterable[str]) -> Iterator[tuple[str, str, float]]:
    columns = suite.columns
    for name in evaluators:
        for case, score in zip(columns.hashes, columns.scores.get(name, ()), strict=False):
            if not isnan(score):
                yield name, case, score
