"""Which cases were in quarantine when a run measured them, and how stable they are since."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from scoregate.kernel.compare.quarantine import QuarantinedCase, find_quarantined_cases
from scoregate.kernel.types.exemptions import STABLE_CASES, Exemptions, StableCase
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.run import Run

_MOST_CASES = 10_000
_CONFIDENCE = 0.95


def list_stable_cases(cases: Iterable[QuarantinedCase]) -> tuple[StableCase, ...]:
    """What a run records of its cases in quarantine: the next one counts on, and knows that the entries are older.

    A case that the run keeps from its baseline counts only if the baseline recorded it.
    """
    known = (each for each in cases if each.is_measured or each.was_quarantined)
    stable = (StableCase(each.suite, each.case, each.stable_runs) for each in known)
    return tuple(islice(stable, _MOST_CASES))


def record_quarantine(run: Run, exemptions: Exemptions) -> Run:
    """The run of a baseline that is measured now, with its cases in quarantine, as `list_stable_cases` records them.

    Args:
        run: the run.
        exemptions: the entries, which are older than the run.
    """
    chosen = {key for key, _ in find_quarantined_cases(run, exemptions.active_quarantine)}
    passed: dict[tuple[int, str], bool] = {}
    for at, suite in enumerate(run.suites):
        for row, case in enumerate(suite.columns.hashes):
            if (at, case) in chosen:
                has_passed = suite.columns.status(row) is Status.PASSED
                passed[at, case] = passed.get((at, case), True) and has_passed
    stable = (StableCase(run.suites[at].label, case, int(runs)) for (at, case), runs in passed.items())
    return replace(run, slots=run.slots.put(STABLE_CASES, tuple(islice(stable, _MOST_CASES)) or None))


def bound_failure_rate(passes: int) -> float:
    """The upper bound of the share of runs in which a case fails, after so many runs in a row without a failure.

    Its confidence is 95 % for a number of runs that was fixed in advance.

    Source: Clopper and Pearson (1934), Biometrika 26:404, for no failures; the rule of three is about the same.
    """
    return float(1 - (1 - _CONFIDENCE) ** (1 / passes))
