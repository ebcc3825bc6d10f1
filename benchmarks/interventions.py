"""Simulates pull requests and prints how often interventions find the truth: `interventions.py [TOPIC …] [--check]`.

The search is the product's own. Trials are simulated.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median

import numpy as np
from calibration_runs import Survey, survey
from calibration_targets import Effort, Report, Target, hold, print_row, print_table, run_topics
from mutated_units import report_units
from numpy.random import Generator

from scoregate.features.interventions.cause.hunks import Hunk
from scoregate.features.interventions.cause.measured_trees import Tree
from scoregate.features.interventions.cause.search import Cause, NotReproduced, Outcome, find_cause

CASES, BROKEN, HUNKS = 200, 20, 8
# In full runs: what the search may spend.
BUDGET = 5
FLIPS = (0.0, 0.05, 0.15)
NAMED = {0.0: 0.95, 0.05: 0.95, 0.15: 0.75}
ONE_COST, TWO_COST = {0.0: 0.6, 0.05: 0.6, 0.15: 1.1}, {0.0: 0.9, 0.05: 2.6, 0.15: 2.5}
KINDS = {
    "one": "one guilty hunk",
    "some": "two, each breaks some cases",
    "together": "two, only both together break them",
    "either": "two, either one suffices",
    "none": "no guilty hunk",
}
TEXT = f"""\
{HUNKS} hunks in 2 to 4 files, {CASES} cases, {BROKEN} of them broken. `flips`: how often a trial of a case has the
other outcome. `named`: all guilty hunks and no others; if only both together break the cases, one of them, and `both`:
the other one as the alternative. `accused`: an innocent hunk is named. `only`: "no other hunk does", and `wrongly` so.
`cost`: the median, and the ninth decile, in full runs."""


@dataclass(frozen=True)
class Answer:
    """What the search found, and its cost in full runs."""

    named: bool
    accused: bool
    both: bool
    only: bool
    wrongly_only: bool
    unreproduced: bool
    cost: float


def report(effort: Effort) -> Iterator[Target]:
    """Print how often the guilty hunks are named, and compare it with the targets."""
    head = ["guilty", "flips", "named", "both", "accused", "only", "wrongly", "not reproduced", "cost", "ninth decile"]
    print_table("Cause of a drop", head, TEXT)
    for kind, title in KINDS.items():
        for flips in FLIPS if kind != "none" else FLIPS[1:]:
            found = survey_causes(kind, flips, effort.of(200, 20))
            answers = [answer for stratum in found.strata for answer in stratum.answers]
            costs = [answer.cost for answer in answers]
            names = ("named", "both", "accused", "only", "wrongly_only", "unreproduced")
            rates = {name: found.rate(partial(_get, name=name)) for name in names}
            print_row(title, flips, *rates.values(), f"{median(costs):.2f}", f"{np.quantile(costs, 0.9):.2f}")
            yield hold(f"{title}, {flips:.0%} flips: an innocent accused", {"": rates["accused"]}, 0, 0.05)
            yield hold(f"{title}, {flips:.0%} flips: wrongly no other hunk", {"": rates["wrongly_only"]}, 0, 0.05)
            if kind != "none":
                limit = (ONE_COST if kind == "one" else TWO_COST)[flips]
                yield hold(f"{title}, {flips:.0%} flips: named", {"": rates["named"]}, NAMED[flips])
                cost = median(costs)
                yield Target(
                    f"{title}, {flips:.0%} flips: median cost in full runs: at most {limit}",
                    f"{cost:.2f}",
                    cost <= limit,
                )


def survey_causes(kind: str, flips: float, count: int) -> Survey[Answer]:
    """Search for the cause in as many pull requests."""
    return survey(f"{kind}, {flips}", partial(_try, kind=kind, flips=flips), count)


def _get(answer: Answer, *, name: str) -> bool:
    return bool(getattr(answer, name))


def _try(source: Generator, *, kind: str, flips: float) -> Answer:
    change = _Change(source, kind, flips)
    found = asyncio.run(find_cause(change.hunks, *change.judge(), change.measure, BUDGET * CASES))
    return change.check(found)


class _Change:
    """A pull request with guilty and innocent hunks."""

    def __init__(self, source: Generator, kind: str, flips: float) -> None:
        self.source, self.kind, self.flips, self.spent = source, kind, flips, 0
        files = int(source.integers(2, 5))
        ends = [0, *sorted(source.choice(np.arange(1, HUNKS), files - 1, replace=False).tolist()), HUNKS]
        sizes = [end - start for start, end in pairwise(ends)]
        self.hunks = [Hunk(f"{name}.md", (at, at)) for name, size in enumerate(sizes) for at in range(size)]
        self.guilty = source.choice(HUNKS, {"none": 0, "one": 1}.get(kind, 2), replace=False).tolist()
        self.broken = set(source.choice(CASES, BROKEN, replace=False).tolist())
        self.firsts = {case for case in self.broken if source.random() < 0.5}

    def judge(self) -> tuple[list[str], list[str]]:
        """The cases that fell in the run that was judged, and as many others that passed."""
        base, head = self._run(Tree(range(HUNKS))), self._run(Tree())
        fell = [str(case) for case in range(CASES) if base[case] and not head[case]]
        others = [str(case) for case in range(CASES) if base[case] and head[case]]
        return fell, self.source.permutation(others)[: len(fell)].tolist()

    async def measure(self, reverted: Tree, cases: Sequence[str], rounds: int) -> Mapping[str, tuple[bool, ...]]:
        """Fresh trials."""
        self.spent += len(cases) * rounds
        return {case: tuple(self._passes(int(case), reverted) for _ in range(rounds)) for case in cases}

    def check(self, found: Outcome) -> Answer:
        """Compare what was found with the truth."""
        cause = found if isinstance(found, Cause) else Cause((), 0, 0, 1.0, is_only=False)
        accused = not {*cause.hunks, *cause.alternative} <= {*self.guilty}
        both = {*cause.hunks, *cause.alternative} == {*self.guilty}
        named = bool(cause.hunks) and not accused and (self.kind == "together" or {*cause.hunks} == {*self.guilty})
        is_wrong = cause.is_only and {*cause.hunks} != {*self.guilty}
        unreproduced = isinstance(found, NotReproduced)
        return Answer(named, accused, both and named, cause.is_only, is_wrong, unreproduced, self.spent / CASES)

    def _run(self, reverted: Tree) -> list[bool]:
        return [self._passes(case, reverted) for case in range(CASES)]

    def _passes(self, case: int, reverted: Tree) -> bool:
        return bool((case in self.broken and self._is_broken(case, reverted)) == (self.source.random() < self.flips))

    def _is_broken(self, case: int, reverted: Tree) -> bool:
        active = [hunk not in reverted for hunk in self.guilty]
        if self.kind == "some":
            return active[case in self.firsts]
        return bool(active) and (all(active) if self.kind == "together" else any(active))


TOPICS: Mapping[str, Report] = {"cause": report, "units": report_units}
QUICK = 0.1


if __name__ == "__main__":
    sys.exit(run_topics(TOPICS, __doc__, quick=QUICK))
