"""Clusters that are not declared: how often labels are wrong, and how often the hint says what to declare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from calibration_runs import CALLED, CRITERIA, run_of, survey
from calibration_scores import Array
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator
from scipy.special import ndtri

from scoregate.kernel.compare.cluster_hints import find_cluster_hints
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.selection import CaseInput

COUNT = 800
WITHOUT_MOST = 0.03
# Of all runs, and of those whose label is wrong because of the clusters.
GIVEN_LEAST, GIVEN_WITH_LABEL_LEAST = 0.65, 0.7


@dataclass(frozen=True)
class _Scenario:
    """Groups of equally many cases, and by how much one draw of luck counts for all cases of a group.

    `passing`: the share of cases that pass on either side; None for scores with a normal distribution.
    """

    groups: int
    size: int
    shared: float
    passing: float | None = 0.8
    evaluators: int = 1

    def __str__(self) -> str:
        kind = "scores" if self.passing is None else f"{self.passing:.0%} pass"
        return f"{self.groups} × {self.size}, {kind}, {self.evaluators} evaluators, shared luck {self.shared}"

    def draw(self, source: Generator) -> Array:
        """Return the scores of one side, a row for each case."""
        luck = np.sqrt(self.shared) * source.standard_normal((self.groups, 1))
        luck = (luck + np.sqrt(1 - self.shared) * source.standard_normal((self.groups, self.size))).ravel()
        scores: Array = luck if self.passing is None else (luck < ndtri(self.passing)).astype(float)
        return scores.reshape(-1, 1)


_SIZES = ((50, 4), (20, 10), (100, 2))
WITHOUT = [
    *(_Scenario(groups, size, 0.0, passing) for groups, size in _SIZES for passing in (0.5, 0.95, 0.98, None)),
    *(_Scenario(groups, size, 0.0, 0.8, evaluators=3) for groups, size in _SIZES),
]
# The shared luck that gives a quarter of unchanged rows a label.
WITH = [
    *(_Scenario(50, 4, shared, passing) for shared, passing in ((0.85, 0.5), (0.85, 0.8), (0.9, 0.95))),
    *(_Scenario(20, 10, shared, passing) for shared, passing in ((0.3, 0.5), (0.4, 0.8), (0.55, 0.95), (0.2, None))),
]


def report(effort: Effort) -> Iterator[Target]:
    """Print how often cases get the hint, independent ones and those in clusters."""
    print_table("Hints at clusters", ["cases", "a label", "a hint", "a hint of those with a label"])
    false, found, with_label = dict[str, Rate](), dict[str, Rate](), dict[str, Rate]()
    for scenario in WITHOUT:
        false[str(scenario)] = _measure(scenario, effort)[0]
    for scenario in WITH:
        found[str(scenario)], with_label[str(scenario)] = _measure(scenario, effort)
    yield hold("independent cases: a hint", false, 0.0, WITHOUT_MOST)
    yield hold("clusters: a hint", found, GIVEN_LEAST)
    yield hold("clusters and a wrong label: a hint", with_label, GIVEN_WITH_LABEL_LEAST)


def _measure(scenario: _Scenario, effort: Effort) -> tuple[Rate, Rate]:
    found = survey(f"clusters {scenario}", partial(_ask, scenario), effort.of(COUNT, 200))
    labelled, hinted = found.rate(lambda answer: answer[0]), found.rate(lambda answer: answer[1])
    both = found.rate(all)
    count = round(labelled.value * found.drawn)
    given = Rate.of(round(both.value * found.drawn), count) if count else Rate(0.0, 0.0)
    print_row(scenario, labelled, hinted, given)
    return hinted, given


def _ask(scenario: _Scenario, source: Generator) -> tuple[bool, bool]:
    """Whether a pull request without a change gets a label, and whether it gets the hint."""
    sides = [{f"e{at}": scenario.draw(source) for at in range(scenario.evaluators)} for _ in range(2)]
    new, base = map(run_of, sides)
    comparison = compare(_with_names(new, scenario), base, criteria=CRITERIA)
    return any(row.label in CALLED for row in comparison.rows), bool(find_cluster_hints(comparison))


def _with_names(run: Run, scenario: _Scenario) -> Run:
    """The run with cases that names and fields group: by document, and by two other groupings that don't matter."""
    cases = []
    for at, case in enumerate(run.suites[0].columns.hashes):
        document, question = divmod(at, scenario.size)
        fields = {"question": f"{at}?", "metadata": {"document_id": f"d{document}", "session": f"s{at % 17}"}}
        cases.append(CaseInput(0, case, (), fields, f"test_{at % 7}[d{document}-{question}]"))
    return replace(run, read_inputs=lambda: cases)
