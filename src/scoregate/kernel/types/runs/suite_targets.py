"""The targets of suites: what a test set or a test config ran against, such as an endpoint."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import replace

from scoregate.kernel.types.json_io import dump_plain, sort_sets
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.suite import TARGET


def match_base_targets(run: Run, base: Run) -> Run:
    """Give the suites of a baseline the targets that the same suites have in the run.

    A suite is compared with the one of the same target. If both runs have one suite of its name only, its target was
    renamed or replaced, or the baseline is of a version that records none: then the two are compared, too. Among
    several suites no such guess is made. The same run is returned if no target changes.

    Args:
        run: the run.
        base: the baseline, or another run that it is compared with.
    """
    targets: dict[int, SuiteResult] = {}
    for key in (_identify_in_file, _identify):
        suites, base_suites = _group(run, key), _group(base, key)
        for identity, members in base_suites.items():
            others = suites.get(identity, [])
            if len(members) == len(others) == 1:
                targets.setdefault(members[0], run.suites[others[0]])
    renamed = tuple(
        replace(suite, params=targets[index].params)
        if index in targets and _has_other_target(suite, targets[index])
        else suite
        for index, suite in enumerate(base.suites)
    )
    if all(one is other for one, other in zip(renamed, base.suites, strict=True)):
        return base
    companions = base.change_companions(lambda each: match_base_targets(run, each))
    return replace(base, suites=renamed, companions=companions)


def _has_other_target(suite: SuiteResult, other: SuiteResult) -> bool:
    return dict(suite.params or {}) != dict(other.params or {})


def _group(run: Run, key: Callable[[SuiteResult], Hashable]) -> dict[Hashable, list[int]]:
    """The indices of the suites that differ in their targets at most."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, suite in enumerate(run.suites):
        groups[key(suite)].append(index)
    return groups


def _identify(suite: SuiteResult) -> Hashable:
    others = {name: value for name, value in (suite.params or {}).items() if name != TARGET}
    return suite.id, dump_plain(sort_sets(others))


def _identify_in_file(suite: SuiteResult) -> Hashable:
    return suite.script, _identify(suite)
