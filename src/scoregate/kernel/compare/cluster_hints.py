"""Hints at clusters that are likely and not declared: cases whose differences are alike within groups.

Names and fields of cases suggest groups, such as the document of a question. The evidence is a test of the differences
between run and baseline, since only their likeness makes labels wrong. It reads no case if too few changed to decide.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from glob import escape

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.compare.pairing import list_differences, pair_means, score_side
from scoregate.kernel.compare.statistics.joint_test import GroupTest, test_groups
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.clusters import PART, find_cluster, may_name_cluster
from scoregate.kernel.types.runs.evidence import Use
from scoregate.kernel.types.selection import CaseInput

# The share of runs with independent cases that may get a hint, over all suites, evaluators and groupings.
_LEVEL = 0.02
# With fewer changed cases the test doesn't hold, and with fewer clusters no gate could fail once they are declared.
_FEWEST_CHANGED, _FEWEST_CLUSTERS = 10, 6
# Below, ignoring the clusters labels at most 8 % of unchanged rows instead of 5 %.
_LEAST_EFFECT = 1.25
# Enough to decide. The first cases of a suite show which settings its names and fields allow.
_MOST_CASES, _SAMPLE, _MOST_FIELDS = 5_000, 100, 8
_LEAST_COVERED = 0.8
_ENDINGS = ("[*]", "-*", "_*", "#*", "/*", " > *", "::*", ":*", ".*", " *")
_PATTERNS = (f"*[{PART}-*]", f"*[*-{PART}]", *(f"{PART}{ending}" for ending in _ENDINGS))
_INCOMPARABLE = (RowLabel.UNMEASURABLE, RowLabel.NOT_COMPARABLE)


@record
class ClusterHint:
    """A likely grouping of a suite's cases: `setting` is the value of `cluster` that declares it."""

    suite: int
    setting: str
    test: GroupTest


def describe_cluster_hints(comparison: Comparison) -> Iterator[str]:
    """A sentence for each suite with likely clusters, and the setting that declares them."""
    for hint in find_cluster_hints(comparison):
        suite, test = comparison.run.suites[hint.suite], hint.test
        alike = f"names like {hint.setting}" if PART in hint.setting else f"the same {hint.setting}"
        found = f"{test.n:,} cases in {test.groups:,} clusters, correlation {test.correlation:.2f}"
        table, value = json.dumps(escape(suite.id)), json.dumps(hint.setting)
        yield (
            f"{suite.label}: cases with {alike} change together ({found}), but count as independent."
            f" If they belong together, set `cluster = {value}` in [suites.{table}]."
        )


def find_cluster_hints(comparison: Comparison) -> list[ClusterHint]:
    """Find likely clusters, at most one hint for each suite that declares none. Reads the run's cases at most once."""
    changes = {index: found for index, base in comparison.pairs if (found := _list_changes(comparison, index, base))}
    if not changes:
        return []
    hints = [
        ClusterHint(index, setting, test_groups(values))
        for index, groupings in _read_groupings(comparison, changes.keys()).items()
        for setting, clusters in groupings.list_distinct()
        for each in changes[index]
        if _has_enough(values := [(cluster, each[case]) for case, cluster in clusters.items() if case in each])
    ]
    best: dict[int, ClusterHint] = {}
    for hint in sorted(hints, key=lambda hint: hint.test.p):
        is_enough = hint.test.groups >= _FEWEST_CLUSTERS and hint.test.design_effect >= _LEAST_EFFECT
        if is_enough and hint.test.p * len(hints) <= _LEVEL:
            best.setdefault(hint.suite, hint)
    return [best[suite] for suite in sorted(best)]


def _list_changes(comparison: Comparison, index: int, base_index: int) -> list[Mapping[str, float]]:
    """The differences of the cases of a suite for each evaluator that enough of them changed in."""
    suite, found = comparison.run.suites[index], list[Mapping[str, float]]()
    if comparison.base is None or suite.columns.clusters or not suite.evidence.counts(Use.TEST):
        return found
    sides = (suite.columns, comparison.base.suites[base_index].columns)
    for row in comparison.rows:
        if row.suite == suite.label and row.pairs.n and row.label not in _INCOMPARABLE:
            new, base = (score_side([columns], row.evaluator).means for columns in sides)
            cases, means, base_means = pair_means(new, base)
            differences = list_differences(means, base_means)
            if len(differences) - differences.count(0.0) >= _FEWEST_CHANGED:
                found.append(dict(zip(cases, differences, strict=True)))
    return found


def _has_enough(values: Iterable[tuple[str, float]]) -> bool:
    """Whether enough of the cases that were read changed; a large suite may have others."""
    return sum(difference != 0 for _, difference in values) >= _FEWEST_CHANGED


def _read_groupings(comparison: Comparison, suites: Iterable[int]) -> dict[int, _Groupings]:
    run = comparison.run
    groupings = {index: _Groupings(min(_MOST_CASES, len(run.suites[index].columns))) for index in suites}
    waiting = set(groupings)
    for case in run.cases if run.read_inputs is None else run.read_inputs():
        if case.suite in waiting:
            groupings[case.suite].add(case)
            if groupings[case.suite].is_full:
                waiting.discard(case.suite)
                if not waiting:
                    break
    return groupings


@dataclass(slots=True)
class _Groupings:
    """The clusters of a suite's first trials, at most `bound` of them, by each setting that the first cases suggest."""

    bound: int
    _sample: dict[str, CaseInput | CaseResult] = field(default_factory=dict)
    _clusters: dict[str, dict[str, str]] | None = None
    _count: int = 0

    @property
    def is_full(self) -> bool:
        """Whether it has enough cases."""
        return self._count >= self.bound

    def add(self, case: CaseInput | CaseResult) -> None:
        """Find the clusters of a case; further trials of it change nothing."""
        self._count += 1
        if self._clusters is None:
            self._sample.setdefault(case.hash, case)
            if len(self._sample) >= _SAMPLE:
                self._choose_settings()
            return
        _add_case(self._clusters, case)

    def _choose_settings(self) -> dict[str, dict[str, str]]:
        cases = list(self._sample.values())
        fields = dict.fromkeys(name for case in cases for name in _list_fields(case.input))
        self._clusters = {setting: {} for setting in (*list(fields)[:_MOST_FIELDS], *_PATTERNS)}
        for case in cases:
            _add_case(self._clusters, case)
        least = _LEAST_COVERED * len(cases)
        self._clusters = {setting: found for setting, found in self._clusters.items() if len(found) >= least}
        self._sample.clear()
        return self._clusters

    def list_distinct(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """The settings with the cluster of each case, without those that group cases as another one does."""
        known = set[tuple[int, ...]]()
        for setting, clusters in (self._choose_settings() if self._clusters is None else self._clusters).items():
            numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters.values()))}
            grouping = tuple(numbers[name] for name in clusters.values())
            if grouping not in known and _FEWEST_CLUSTERS <= len(numbers) <= len(grouping) * 2 / 3:
                known.add(grouping)
                yield setting, clusters


def _add_case(clusters: Mapping[str, dict[str, str]], case: CaseInput | CaseResult) -> None:
    for setting, found in clusters.items():
        if (cluster := find_cluster(setting, case.input, case.name, case.hash)) is not None:
            found[case.hash] = cluster


def _list_fields(case_input: object) -> Iterator[str]:
    """The fields of an input that may name a cluster, in the form of the setting."""
    if not isinstance(case_input, Mapping):
        return
    for name, value in case_input.items():
        if isinstance(value, Mapping):
            prefix = "" if name in ("metadata", "input") else f"{name}."
            yield from (f"{prefix}{each}" for each in value if may_name_cluster(each))
        elif may_name_cluster(name):
            yield name
